import { setTimeout as wait } from 'node:timers/promises';
import type { BenchDatabase } from '../measure/bench-server.js';
import { ScaleProcess } from './scale-process.js';

/** Sessions tell their counters when they have been idle for ten seconds, at the latest. */
const SETTLE_MS = 12_000;

/**
 * Processes with nothing to do, at the default settings.
 *
 * @returns transactions per second and connections, of each of them.
 */
export async function measureIdle(
  database: BenchDatabase,
  options: { readonly processes: number; readonly ms: number },
): Promise<{ readonly transactions: number; readonly connections: number }> {
  const running = await Promise.all(
    Array.from({ length: options.processes }, (_, index) =>
      ScaleProcess.start({ databaseUrl: database.url, instanceName: `idle ${index + 1}`, mode: 'loop' }),
    ),
  );
  try {
    await wait(Math.min(SETTLE_MS, options.ms));
    const before = await readCounters(database);
    const startedAt = performance.now();
    await wait(options.ms);
    const after = await readCounters(database);
    const seconds = (performance.now() - startedAt) / 1000;
    const ofLooking = 1;
    return {
      transactions: Math.max(after.transactions - before.transactions - ofLooking, 0) / seconds / options.processes,
      connections: after.connections / options.processes,
    };
  } finally {
    await Promise.all(running.map((process) => process.kill()));
  }
}

async function readCounters(database: BenchDatabase): Promise<{ transactions: number; connections: number }> {
  const [row] = await database.query<{ transactions: string; connections: string }>(
    `select (select xact_commit + xact_rollback from pg_stat_database where datname = current_database()) as transactions,
      (select count(*) from pg_stat_activity
       where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()) as connections`,
  );
  return { transactions: Number(row?.transactions), connections: Number(row?.connections) };
}
