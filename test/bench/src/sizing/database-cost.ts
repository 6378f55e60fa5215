import { type OutgoingEvent, type PublishOutcome } from 'nestjs-transactional-outbox';
import type { BenchDatabase, BenchServer } from '../measure/bench-server.js';
import { eventOf, fillPayloads, type Size } from './payloads.js';
import { startSizingApp } from './sizing-app.js';

/** What one event with one destination leaves behind in the database. */
export interface DatabaseCost {
  /** Bytes of write-ahead log, each step by itself. */
  readonly emitWal: number;
  readonly claimWal: number;
  readonly finalizeWal: number;
  /** Row versions that vacuum has to take away. */
  readonly deadRows: number;
}

/** More would make a batch larger than a claim may be in bytes. */
const MOST_BYTES = 10_000_000;

/**
 * Emits events one by one and dispatches them as one batch. The position of the write-ahead log is read between the
 * steps; that of the claim is known in the transport, which is called when the claim has committed.
 */
export async function measureDatabaseCost(server: BenchServer, size: Size, events: number): Promise<DatabaseCost> {
  return server.withDatabase(async (database) => {
    const count = Math.min(events, Math.floor(MOST_BYTES / size.bytes));
    let claimed = 0n;
    const transport = {
      capabilities: { batch: true, keepsOrderPerKey: true, deduplicates: false },
      async publish(batch: readonly OutgoingEvent[]): Promise<readonly PublishOutcome[]> {
        if (batch.length !== count) throw new Error(`a batch of ${batch.length} instead of ${count} events`);
        claimed = await readWal(database);
        return batch.map(() => ({ kind: 'delivered' }));
      },
    };
    const app = await startSizingApp(database, { transport, batchSize: count });
    await database.query('alter table outbox_delivery set (autovacuum_enabled = off)');
    await app.dispatcher.dispatchOnce(); // makes the destination known
    const start = await readWal(database);
    for (let number = 1; number <= count; number += 1) {
      await app.dataSource.transaction((manager) => app.outbox.emit(manager, eventOf(size, number)));
    }
    const emitted = await readWal(database);
    const { delivered } = await app.dispatcher.dispatchOnce();
    const finalized = await readWal(database);
    await app.close(); // sessions tell their counters when they end
    if (delivered !== count) throw new Error(`${delivered} of ${count} events were delivered`);
    const perEvent = (bytes: bigint): number => Number(bytes) / count;
    return {
      emitWal: perEvent(emitted - start),
      claimWal: perEvent(claimed - emitted),
      finalizeWal: perEvent(finalized - claimed),
      deadRows: (await readDeadRows(database)) / count,
    };
  });
}

/** Statements that one batch takes, each a transaction of its own: that of many batches less that of one. */
export async function measureStatements(server: BenchServer, size: Size, batchSize: number): Promise<number> {
  const batches = 20;
  const transactionsOf = (events: number): Promise<number> =>
    server.withDatabase(async (database) => {
      const app = await startSizingApp(database, { batchSize });
      await fillPayloads(database, events, size);
      await app.dispatcher.drain();
      await app.close();
      const [row] = await database.query<{ count: string }>(
        'select xact_commit as count from pg_stat_database where datname = current_database()',
      );
      return Number(row?.count);
    });
  return ((await transactionsOf((batches + 1) * batchSize)) - (await transactionsOf(batchSize))) / batches;
}

/** Connections of a process at the default settings: while it only emits, and with a running dispatcher. */
export async function measureConnections(
  server: BenchServer,
  size: Size,
): Promise<{ readonly emitting: number; readonly dispatching: number }> {
  const connectionsOf = (dispatcher: { readonly enabled: boolean }): Promise<number> =>
    server.withDatabase(async (database) => {
      const app = await startSizingApp(database, { dispatcher });
      const emit = (_: unknown, number: number): Promise<string[]> =>
        app.dataSource.transaction((manager) => app.outbox.emit(manager, eventOf(size, number)));
      await Promise.all(Array.from({ length: 200 }, emit));
      const [row] = await database.query<{ count: string }>(
        `select count(*) from pg_stat_activity
         where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
      );
      await app.close();
      return Number(row?.count);
    });
  return { emitting: await connectionsOf({ enabled: false }), dispatching: await connectionsOf({ enabled: true }) };
}

async function readWal(database: BenchDatabase): Promise<bigint> {
  const [row] = await database.query<{ bytes: string }>(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text as bytes`,
  );
  return BigInt(row?.bytes ?? 0);
}

async function readDeadRows(database: BenchDatabase): Promise<number> {
  const [row] = await database.query<{ rows: string }>(
    `select sum(n_tup_upd + n_tup_del) as rows from pg_stat_user_tables
     where relname in ('outbox_delivery', 'outbox_event')`,
  );
  return Number(row?.rows);
}
