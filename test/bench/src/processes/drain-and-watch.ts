import { setTimeout as wait } from 'node:timers/promises';
import { CountingTransport } from '../sides/counting-transport.js';
import { startLibrary } from '../sides/library.js';

/** What the process tells when it has delivered the backlog; bytes. */
export interface MemoryReport {
  /** Resident set of the application when it has just started. */
  readonly restRss: number;
  readonly peakRss: number;
  readonly peakHeapUsed: number;
}

const SAMPLE_EVERY_MS = 10;

/**
 * An application that dispatches in its loop with the defaults and does nothing else. Takes the database's URL and how
 * many events wait there, says how much memory it took to deliver them, and ends with the process that forked it.
 */
process.once('disconnect', () => process.exit());
const [url = '', events = '0'] = process.argv.slice(2);
const transport = new CountingTransport();
const library = await startLibrary({ url }, { destination: { transport }, dispatcher: { schedule: 'loop' } });
const restRss = process.memoryUsage.rss();

let peakRss = restRss;
let peakHeapUsed = 0;
while (transport.count < Number(events)) {
  await wait(SAMPLE_EVERY_MS);
  const { rss, heapUsed } = process.memoryUsage();
  peakRss = Math.max(peakRss, rss);
  peakHeapUsed = Math.max(peakHeapUsed, heapUsed);
}
const report: MemoryReport = { restRss, peakRss, peakHeapUsed };
process.send?.(report);
await library.close();
process.disconnect();
