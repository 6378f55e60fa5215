import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PLANTED_BUGS } from './planted-bugs.js';
import { findViolation, isReplay } from './runs.js';

const TIMEOUT = { timeout: 600_000 };

/** A check that was never seen to fail proves nothing. `--reporter=verbose` prints the seeds. */
describe.skipIf(isReplay)('planted bugs', () => {
  it.for(PLANTED_BUGS.map((bug) => [bug.name, bug] as const))(
    'are noticed: %s',
    TIMEOUT,
    async ([, bug], { annotate }) => {
      const found = await findViolation(bug);
      if (found === undefined) expect.fail('no run noticed it');
      expect(found.violations.join('\n')).toMatch(bug.violates);
      await annotate(`seed ${found.seed}: ${found.violations[0]}`);
    },
  );

  it('are all named in the documentation', () => {
    const page = readFileSync(new URL('../../docs/concepts/protocol-model.md', import.meta.url), 'utf8');
    expect(PLANTED_BUGS.filter(({ name }) => !page.includes(`| ${name} `))).toEqual([]);
  });
});
