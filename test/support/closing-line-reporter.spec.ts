import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startChild } from './child-process.js';

const vitestProgram = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
const support = fileURLToPath(new URL('.', import.meta.url));

/** A test run of its own over up to three files in one process, below this folder so that packages resolve. */
async function runOver(
  testFile: string,
  { globalSetup = '', otherFile = '', thirdFile = '' } = {},
): Promise<{ lines: string[]; exitCode: number | undefined }> {
  await mkdir(join(support, '.tmp'), { recursive: true });
  const root = await mkdtemp(join(support, '.tmp', 'run-'));
  try {
    await writeFile(join(root, 'planted.fixture.ts'), testFile);
    if (otherFile !== '') await writeFile(join(root, 'other.fixture.ts'), otherFile);
    if (thirdFile !== '') await writeFile(join(root, 'third.fixture.ts'), thirdFile);
    await writeFile(join(root, 'setup.ts'), globalSetup);
    await writeFile(
      join(root, 'vitest.config.ts'),
      `export default { test: {
        include: ['*.fixture.ts'], globalSetup: ${globalSetup === '' ? '[]' : `['setup.ts']`},
        setupFiles: ['../../setup.ts'], pool: 'forks', isolate: false, maxWorkers: 1,
        reporters: ['default', '../../closing-line-reporter.ts'],
      } };`,
    );
    const run = startChild(vitestProgram, { args: ['run', '--root', root] });
    const exitCode = await run.exited;
    // Empty ones of standard error may arrive behind the last one of standard output: these are two pipes.
    return { lines: run.lines.filter((line) => line !== ''), exitCode };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

const test = `import { afterAll, beforeAll, describe, expect, it } from 'vitest';\n`;

describe('the closing line', () => {
  it('counts what passed, failed and was skipped', async () => {
    const { lines, exitCode } = await runOver(`${test}
      it('one', () => {}); it('two', () => {}); it('three', () => expect(1).toBe(2));
      it.skip('four', () => {}); it.todo('five');`);
    expect(lines.at(-1)).toBe('2 passed, 1 failed, 2 skipped');
    expect(exitCode).toBe(1);
  });

  it('says nothing of skipped tests when there are none, and follows all other output', async () => {
    const { lines, exitCode } = await runOver(`${test} it('one', () => {});`, {
      globalSetup: `export default () => () => console.log('torn down');`,
    });
    expect(lines.slice(-2)).toEqual(['torn down', '1 passed, 0 failed']);
    expect(exitCode).toBe(0);
  });

  it.each([
    ['a file that cannot be loaded', `throw new Error('broken');`, '0 passed, 2 failed'],
    ['a hook before the tests', `beforeAll(() => { throw 1; }); it('a', () => {});`, '0 passed, 2 failed, 1 skipped'],
    ['a hook after the tests', `afterAll(() => { throw 1; }); it('a', () => {});`, '1 passed, 2 failed'],
    [
      'a hook of an inner suite',
      `describe('s', () => { afterAll(() => { throw 1; }); it('a', () => {}); });`,
      '1 passed, 2 failed',
    ],
    [
      'an error that nobody awaited',
      `it('a', async () => { setTimeout(() => { throw new Error('late'); }, 1); await new Promise((r) => setTimeout(r, 50)); });`,
      '1 passed, 2 failed',
    ],
  ])('counts %s as failed', async (_what, body, closingLine) => {
    // The failed test beside it makes sure that it is counted, not only concluded from the exit code.
    const otherFile = `${test} it('fails', () => expect(1).toBe(2));`;
    const { lines, exitCode } = await runOver(test + body, { otherFile });
    expect(lines.at(-1)).toBe(closingLine);
    expect(exitCode).toBe(1);
  });

  it('counts a run that could not start as failed', async () => {
    const { lines, exitCode } = await runOver(`${test} it('one', () => {});`, {
      globalSetup: `export default () => { throw new Error('no server'); };`,
    });
    expect(lines.at(-1)).toBe('0 passed, 1 failed');
    expect(exitCode).toBe(1);
  });

  it('is no success when every test was skipped', async () => {
    const { lines, exitCode } = await runOver(`${test} it.skip('one', () => {});`);
    expect(lines.at(-1)).toBe('0 passed, 0 failed, 1 skipped');
    expect(exitCode).toBe(1);
  });
});

it('a test file that forgets a child leaves none to those that come after it in its process', async () => {
  const linePrinter = join(support, '../processes/dist/line-printer.js');
  const file = `${test}
    import { startChild } from '../../child-process.js';
    it('forgets', () => {
      globalThis.forgotten ??= [];
      for (const pid of globalThis.forgotten) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
      globalThis.forgotten.push(startChild(${JSON.stringify(linePrinter)}).pid);
      console.log('forgotten ' + globalThis.forgotten.join());
    });`;
  const { lines } = await runOver(file, { otherFile: file, thirdFile: file });
  expect(lines.at(-1)).toBe('3 passed, 0 failed');
  const [, pids = ''] = /forgotten (\d+,\d+,\d+)/.exec(lines.join('\n')) ?? [];
  expect(pids).not.toBe('');
  for (const pid of pids.split(',')) expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH');
});
