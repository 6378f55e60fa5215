import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, it } from 'vitest';
import { startChild } from '../support/child-process.js';
import { createTestDatabase } from '../support/database.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const bench = new URL('../bench/dist/main.js', import.meta.url);
const report = new URL('../bench/dist/report/main.js', import.meta.url);

describe('the bench', () => {
  const start = (args: readonly string[]): ReturnType<typeof startChild> =>
    startChild(bench, { args, env: { DATABASE_URL: inject('adminDatabaseUrl') } });

  /** Databases of the bench on the server of this test run. */
  const leftBehind = async (): Promise<string[]> => {
    const database = await createTestDatabase();
    const rows = await database.query<{ datname: string }>(
      "select datname from pg_database where datname like 'outbox\\_bench\\_%'",
    );
    await database.drop();
    return rows.map(({ datname }) => datname);
  };

  // First, because it installs what the bench needs and compiles it.
  it('a quick run of one target ends with one JSON object that has its ratio and whether its bound is met', async () => {
    const { status, output } = await npmRunBench(['--quick', '--only', 'P10', '--json']);
    expect(status, output).toBe(0);
    const result: unknown = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '');
    expect(result).toEqual({
      P10: expect.objectContaining({
        ours: expect.any(Number),
        against: expect.any(Number),
        ratio: expect.any(Number),
        target: expect.any(Number),
        met: expect.any(Boolean),
      }),
    });
    expect(await leftBehind()).toEqual([]);
  }, 300_000);

  it('refuses arguments that it does not know or that make no sense', async () => {
    for (const [args, complaint] of [
      [['--only', 'P0'], 'bench: --only names "P0", which is no target. Choose among P1, '],
      [['--out', '/nowhere/results.json'], 'bench: /nowhere/results.json cannot be written (ENOENT).'],
    ] as const) {
      const child = start(args);
      expect(await child.exited, args.join(' ')).toBe(2);
      expect(child.lines[0]).toContain(complaint);
    }
  }, 120_000);

  it('names its options and targets when asked to', async () => {
    const child = start(['--help']);
    expect(await child.exited).toBe(0);
    expect(child.lines.join('\n')).toMatch(/--quick[\s\S]*--soak[\s\S]* {2}P1 /);
  }, 60_000);

  it('takes its databases down when it is interrupted', async () => {
    const child = start(['--quick', '--only', 'P1']);
    await child.waitForLine(/warm-up/, 60_000);
    expect(await leftBehind()).toHaveLength(1);
    await child.kill('SIGINT');
    expect(child.exitCode).toBe(130);
    expect(await leftBehind()).toEqual([]);
  }, 120_000);

  it('a report of what is no file of results is refused', async () => {
    const child = startChild(report, { args: [fileURLToPath(new URL('../../package.json', import.meta.url))] });
    expect(await child.exited).toBe(2);
    expect(child.lines[0]).toMatch(/^bench:report: \S+ was not written by npm run bench -- --out\.$/);
  }, 60_000);
});

/** As a person would run it; everything that it prints to standard output. */
async function npmRunBench(args: readonly string[]): Promise<{ status: number | null; output: string }> {
  const child = spawn('npm', ['run', '--silent', 'bench', '--', ...args], {
    cwd: ROOT,
    env: { ...process.env, DATABASE_URL: inject('adminDatabaseUrl') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, output: Buffer.concat(chunks).toString('utf8') };
}
