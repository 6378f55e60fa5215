import type { DataSource } from 'typeorm';

/** Databases for which TypeORM has one connection, and one query runner on it, for everybody. */
const SINGLE_CONNECTION_TYPES: ReadonlySet<string> = new Set(['better-sqlite3', 'sqlite', 'sqljs']);

/** The end of the last turn of each DataSource; it belongs to the DataSource and goes with it. */
const lastTurns = new WeakMap<DataSource, Promise<void>>();

/**
 * Runs work that needs a transaction of its own. On one connection for everybody, a transaction that begins while
 * another one is open would become a savepoint of a stranger; so there they go one after the other. Elsewhere it runs
 * at once.
 */
export async function inExclusiveTurn<T>(dataSource: DataSource, work: () => Promise<T>): Promise<T> {
  if (!SINGLE_CONNECTION_TYPES.has(dataSource.options.type)) return work();
  const turn = (lastTurns.get(dataSource) ?? Promise.resolve()).then(work);
  lastTurns.set(
    dataSource,
    turn.then(
      () => undefined,
      () => undefined, // whoever asked for the turn gets its error; the next one only needs its end
    ),
  );
  return turn;
}
