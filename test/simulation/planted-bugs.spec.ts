import { describe, expect, it } from 'vitest';
import { PLANTED_BUGS } from './planted-bugs.js';
import { findViolation } from './runs.js';

const MINUTES_MS = 60_000;

/** A check that was never seen to fail proves nothing. `--reporter=verbose` prints the seeds. */
describe('the checks notice that', () => {
  it.for(PLANTED_BUGS)('$name', { timeout: 10 * MINUTES_MS }, async (bug, { annotate }) => {
    const found = await findViolation(bug);
    if (found === undefined) expect.fail('no run noticed it');
    expect(found.violations.join('\n')).toMatch(bug.violates);
    await annotate(`seed ${found.seed}: ${found.violations[0]}`);
  });
});
