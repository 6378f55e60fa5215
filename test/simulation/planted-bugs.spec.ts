import { describe, expect, it } from 'vitest';
import { PLANTED_BUGS } from './planted-bugs.js';
import { findViolation } from './runs.js';

const TIMEOUT = { timeout: 600_000 };

/** A check that was never seen to fail proves nothing. `--reporter=verbose` prints the seeds. */
describe('the checks notice that', () => {
  it.for(PLANTED_BUGS.map((bug) => [bug.name, bug] as const))('%s', TIMEOUT, async ([, bug], { annotate }) => {
    const found = await findViolation(bug);
    if (found === undefined) expect.fail('no run noticed it');
    expect(found.violations.join('\n')).toMatch(bug.violates);
    await annotate(`seed ${found.seed}: ${found.violations[0]}`);
  });
});
