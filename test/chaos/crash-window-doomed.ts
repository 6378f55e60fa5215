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

export interface Inside {
  readonly operation: Operation;
  /** Rows that are changed before the one at which it dies; default none. */
  readonly afterRows?: number;
  /** PostgreSQL rolls the statement back, or carries it out although nobody waits for the answer. */
  readonly ending: 'abandon' | 'complete';
}

/** Kills a program while PostgreSQL is in the middle of a statement. Resolves when PostgreSQL is done with it. */
export async function dieInside(
  database: TestDatabase,
  { operation, afterRows = 0, ending }: Inside,
  start: () => ChildProgram | Promise<ChildProgram>,
): Promise<void> {
  const stall = await startStall(database, operation, afterRows);
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
