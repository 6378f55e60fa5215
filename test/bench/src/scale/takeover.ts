import type { BenchDatabase } from '../measure/bench-server.js';
import { ScaleProcess } from './scale-process.js';
import { fillTwoDestinations } from './two-destinations.js';

export const LEASE_MS = 4000;
export const POLL_INTERVAL_MS = 500;
const EVENTS = 50;

/**
 * A process holds leases and is killed (SIGKILL); another one, idle, runs its ordinary loop.
 *
 * @returns ms from the kill until all that the dead one held was published by the other.
 */
export async function measureTakeover(database: BenchDatabase): Promise<number> {
  await fillTwoDestinations(database, EVENTS, 'unordered');
  const settings = { databaseUrl: database.url, leaseMs: LEASE_MS, pollIntervalMs: POLL_INTERVAL_MS };
  const victim = await ScaleProcess.start({ ...settings, instanceName: 'victim', mode: 'hanging' });
  try {
    await untilAllLeased(database);
    const survivor = await ScaleProcess.start({ ...settings, instanceName: 'survivor', mode: 'loop' });
    try {
      const takenOver = published(survivor, 2 * EVENTS);
      await victim.kill();
      const killedAt = Date.now();
      return (await takenOver) - killedAt;
    } finally {
      await survivor.kill();
    }
  } finally {
    await victim.kill();
  }
}

async function untilAllLeased(database: BenchDatabase): Promise<void> {
  for (;;) {
    const [row] = await database.query<{ free: string }>(
      'select count(*) as free from outbox_delivery where lease_until is null',
    );
    if (row?.free === '0') return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Resolves with the time of the report with which that many were published. */
function published(process: ScaleProcess, deliveries: number): Promise<number> {
  let count = 0;
  return new Promise((resolve) => {
    process.on((report) => {
      if (report.report !== 'published') return;
      count += Object.values(report.counts).reduce((sum, events) => sum + events, 0);
      if (count >= deliveries) resolve(report.at);
    });
  });
}
