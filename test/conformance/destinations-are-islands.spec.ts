import { randomUUID } from 'node:crypto';
import type { DestinationOptions, Transport } from 'nestjs-transactional-outbox';
import { HttpTransport } from 'nestjs-transactional-outbox/http';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noted, OrderNoted, OrderStep, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.js';

const EVENTS = 300;

/** A transport that never answers, and does not listen either. */
const hung: Transport = {
  capabilities: { batch: false, keepsOrderPerKey: false, deduplicates: false },
  publish: () => new Promise(() => undefined),
};

describe('a destination that works', () => {
  let app: OutboxApp | undefined;
  let bad: RecordingServer;
  let healthy: MemoryTransport;
  beforeEach(async () => {
    bad = await startRecordingServer();
    healthy = new MemoryTransport();
  });
  afterEach(async () => {
    await app?.close();
    await bad.close();
  });

  /** Emits to both destinations; answers when the working one has all of it. */
  const deliverBeside = async (neighbour: DestinationOptions): Promise<OutboxApp> => {
    const started = await startOutboxApp({
      outbox: {
        destinations: { neighbour: { maxAttempts: 1000, ...neighbour }, healthy: { transport: healthy } },
        routes: [{ events: [OrderNoted, OrderStep], to: ['neighbour', 'healthy'] }],
        dispatcher: { schedule: 'loop', pollIntervalMs: 20, shutdownGraceMs: 50 },
      },
    });
    app = started;
    const orders = Array.from({ length: EVENTS / 3 }, () => randomUUID());
    await started.outbox.transaction(() =>
      started.outbox.emit(orders.flatMap((order) => [step(order, 1), step(order, 2), noted(order)])),
    );
    await healthy.waitForCount(EVENTS, 20_000);
    return started;
  };
  const undelivered = async (started: OutboxApp): Promise<number> => {
    const [row] = await started.database.query<{ waiting: number }>(
      "select count(*)::int as waiting from outbox_delivery where destination = 'neighbour' and status = 0",
    );
    return row?.waiting ?? 0;
  };

  it('gets everything beside one that never answers and ignores its signal', async () => {
    const started = await deliverBeside({ transport: hung, leaseMs: 60_000, publishTimeoutMs: 50_000 });
    expect(await undelivered(started)).toBe(EVENTS);
  });

  it('gets everything beside one that answers slowly', async () => {
    bad.answerWith(() => ({ status: 204, delayMs: 5000 }));
    const started = await deliverBeside({ transport: new HttpTransport({ url: bad.url }) });
    expect(await undelivered(started)).toBe(EVENTS);
  });

  it('gets everything beside one that refuses every event for the moment', async () => {
    bad.answerWith(() => ({ status: 503 }));
    const started = await deliverBeside({
      transport: new HttpTransport({ url: bad.url }),
      retryBaseMs: 1,
      retryCapMs: 2,
    });
    expect(await undelivered(started)).toBe(EVENTS);
  });

  it('gets everything beside one that floods each answer', async () => {
    const flood = Buffer.alloc(4_000_000);
    bad.answerWith(() => ({ status: 200, body: flood }));
    const started = await deliverBeside({ transport: new HttpTransport({ url: bad.url, maxResponseBytes: 1024 }) });
    expect(await undelivered(started)).toBe(EVENTS);
  });

  it('gets everything beside one that asks for patience, and no attempt is spent there', async () => {
    bad.answerWith(() => ({ status: 429, headers: { 'retry-after': '3600' } }));
    const started = await deliverBeside({ transport: new HttpTransport({ url: bad.url }) });
    expect(await undelivered(started)).toBe(EVENTS);
    expect(
      await started.database.query(
        "select 1 from outbox_delivery where destination = 'neighbour' and attempts > 0 and lease_until is null",
      ),
    ).toEqual([]);
  });

  it('gets everything beside one that throws at every call', async () => {
    const transport = new MemoryTransport({
      respond: () => {
        throw new Error('a bug');
      },
    });
    const started = await deliverBeside({ transport, retryBaseMs: 1, retryCapMs: 2 });
    expect(await undelivered(started)).toBe(EVENTS);
  });
});

describe('a destination that had the event already', () => {
  it('counts as delivered, and the summary says that it was a duplicate', async () => {
    const memory = new MemoryTransport({ respond: () => ({ kind: 'delivered', duplicate: true }) });
    const app = await startOutboxApp({ memory });
    await app.outbox.transaction(() => app.outbox.emit([noted(randomUUID()), noted(randomUUID())]));
    expect(await app.dispatcher.drain()).toMatchObject({ delivered: 2, duplicates: 2 });
    expect(await app.database.query('select id from outbox_delivery')).toEqual([]);
    await app.close();
  });
});
