import pg from 'pg';
import { type Moments, monotonicNowMs } from '../measure/latencies.js';
import { ArrivalTransport } from '../sides/arrival-transport.js';
import { startLibrary } from '../sides/library.js';
import { CHANNEL } from '../sides/notify-floor.js';
import type { ArrivalMessage, WatchMode } from './arrival-messages.js';

// A second process: notes when events, or bare notifications, arrive. It ends when its parent lets go of it.
const [, , url = '', mode] = process.argv as [string, string, string?, WatchMode?];
const collect = mode === 'listener' ? await listen() : await dispatch();

process.on('message', () => tell({ kind: 'arrived', moments: collect() }));
process.on('disconnect', () => process.exit(0));
tell({ kind: 'ready' });

async function listen(): Promise<() => Moments> {
  const moments: [string, number][] = [];
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  client.on('notification', ({ payload = '' }) => moments.push([payload, monotonicNowMs()]));
  await client.query(`listen ${CHANNEL}`);
  return () => moments.splice(0);
}

async function dispatch(): Promise<() => Moments> {
  const transport = new ArrivalTransport();
  await startLibrary({ url }, { destination: { transport }, dispatcher: { schedule: 'loop' } });
  return () => transport.collect();
}

function tell(message: ArrivalMessage): void {
  process.send?.(message);
}
