import { expect } from 'vitest';
import { type ChildProgram, startChild } from '../support/child-process.js';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { type Operation, startStall } from './crash-window-stall.js';

export interface DoomedOptions {
  /** The point at which it kills itself; see crash-point in test/processes. Without one, somebody else does. */
  readonly dieAt?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a program of test/processes that is to die. */
export function startDoomed(
  database: TestDatabase,
  program: string,
  { dieAt, args = [], env = {} }: DoomedOptions = {},
): ChildProgram {
  const preload = `--import=${new URL('../processes/dist/crash-point.js', import.meta.url).href}`;
  return startChild(new URL(`../processes/dist/${program}.js`, import.meta.url), {
    args,
    env: {
      DATABASE: database.url,
      NO_COLOR: '1',
      ...(dieAt === undefined ? {} : { DIE_AT: dieAt, NODE_OPTIONS: preload }),
      ...env,
    },
  });
}

/** Resolves when the program has died at that very point, and PostgreSQL has noticed. */
export async function diedAt(database: TestDatabase, program: ChildProgram, dieAt: string): Promise<void> {
  expect(await program.exited, program.lines.join('\n')).toBeUndefined();
  expect(program.lines.at(-1)).toBe(`dies ${dieAt}`);
  await sessionsEnded(database);
}

/**
 * Kills a program while PostgreSQL is in the middle of a statement that does `operation`, and has the statement rolled
 * back (`abandon`) or carried out (`complete`). Resolves when PostgreSQL is done with it.
 */
export async function dieInside(
  database: TestDatabase,
  operation: Operation,
  ending: 'abandon' | 'complete',
  start: () => ChildProgram | Promise<ChildProgram>,
): Promise<void> {
  const stall = await startStall(database, operation);
  try {
    const program = await start();
    await stall.reached();
    await program.kill('SIGKILL');
    if (ending === 'abandon') await stall.abandon();
  } finally {
    await stall.end();
  }
  await sessionsEnded(database);
}

async function sessionsEnded(database: TestDatabase): Promise<void> {
  const sessions = `select pid from pg_stat_activity
    where datname = current_database() and application_name ~ '^(doomed|dispatcher)'`;
  await eventually(async () => expect(await database.query(sessions)).toEqual([]), { timeoutMs: 30_000 });
}
