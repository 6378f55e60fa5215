import 'reflect-metadata';
import { setTimeout as wait } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OutboxDispatcher, OutboxModule, type OutgoingEvent, type PublishOutcome } from 'nestjs-transactional-outbox';
import { BenchNoted, BenchStepped } from '../sides/bench-events.js';
import { type ScaleCommand, type ScaleSettings, tell } from './scale-protocol.js';

// Program: one dispatcher process of several on one database. It ends with its parent at the latest.

const REPORT_EVERY_MS = 50;
/** Between two looks at an empty queue, as long as others may still have some of it. */
const LOOK_AGAIN_MS = 20;

const settings = JSON.parse(process.argv[2] ?? '{}') as ScaleSettings; // written by the parent
let counts: Record<string, number> = {};

process.once('disconnect', () => process.exit());

const app = await NestFactory.createApplicationContext(
  {
    module: class ScaleModule {},
    imports: [
      TypeOrmModule.forRoot({ type: 'postgres', url: settings.databaseUrl, poolSize: 2 }),
      OutboxModule.forRoot({
        destinations: { left: destination(), right: destination() },
        routes: [{ events: [BenchNoted, BenchStepped], to: ['left', 'right'] }],
        migrate: 'auto',
        dispatcher: {
          schedule: settings.mode === 'driven' ? false : 'loop',
          instanceName: settings.instanceName,
          ...(settings.pollIntervalMs !== undefined && { pollIntervalMs: settings.pollIntervalMs }),
        },
      }),
    ],
  },
  { logger: ['error'] },
);
const dispatcher = app.get(OutboxDispatcher);
if (settings.mode === 'driven') await dispatcher.drain(); // makes the destinations known, and opens the connections
setInterval(report, REPORT_EVERY_MS);

let draining: AbortController | undefined;
process.on('message', (message) => {
  const { command } = message as ScaleCommand; // nobody else has the channel
  if (command === 'drain') void drain();
  else draining?.abort();
});
tell({ report: 'ready' });

async function drain(): Promise<void> {
  draining = new AbortController();
  const { signal } = draining;
  while (!signal.aborted) {
    await dispatcher.drain();
    await wait(LOOK_AGAIN_MS);
  }
  report();
  tell({ report: 'stopped' });
}

function report(): void {
  if (Object.keys(counts).length === 0) return;
  tell({ report: 'published', at: Date.now(), counts });
  counts = {};
}

function destination() {
  const transport = { capabilities: { batch: true, keepsOrderPerKey: true, deduplicates: false }, publish };
  return { transport, ...(settings.leaseMs !== undefined && { leaseMs: settings.leaseMs, publishTimeoutMs: 1000 }) };
}

async function publish(batch: readonly OutgoingEvent[]): Promise<readonly PublishOutcome[]> {
  if (settings.mode === 'hanging') {
    tell({ report: 'holding', eventIds: batch.map(({ envelope }) => envelope.id) });
    await new Promise(() => undefined);
  }
  for (const { destination: name } of batch) counts[name] = (counts[name] ?? 0) + 1;
  return batch.map(() => ({ kind: 'delivered' }));
}
