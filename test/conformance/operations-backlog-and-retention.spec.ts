import { randomUUID } from 'node:crypto';
import { BacklogService, RetentionService } from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noted, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';

const HOUR_MS = 3_600_000;

describe('what whoever is on call can ask', () => {
  let app: OutboxApp;
  let answer: 'delivered' | 'retry' | 'dead';
  beforeEach(async () => {
    answer = 'delivered';
    const memory = new MemoryTransport({
      respond: () => (answer === 'delivered' ? { kind: 'delivered' } : { kind: answer, error: 'as told' }),
    });
    app = await startOutboxApp({
      memory,
      outbox: { destinations: { memory: { transport: memory, retryBaseMs: HOUR_MS, retryCapMs: HOUR_MS } } },
    });
  });
  afterEach(() => app.close());

  const emit = (...events: object[]): Promise<string[]> => app.outbox.transaction(() => app.outbox.emit(events));
  const backlog = async () => (await app.module.get(BacklogService).read())[0];

  it('depth by state, attempts, dead letters and the age of the oldest undelivered event', async () => {
    answer = 'dead';
    await emit(noted(randomUUID()));
    await app.dispatcher.drain();
    answer = 'retry';
    await emit(noted(randomUUID()), noted(randomUUID()));
    await app.dispatcher.drain();
    await emit(noted(randomUUID()));
    await app.database.query(
      "update outbox_delivery set created_at = created_at - interval '1 hour' where attempts = 0",
    );

    const figures = await backlog();
    expect(figures).toMatchObject({ destination: 'memory', pending: 3, processing: 0, expiredLeases: 0, dead: 1 });
    expect(figures?.attempts).toEqual(
      new Map([
        [0, 1],
        [1, 2],
      ]),
    );
    expect(figures?.oldestUndeliveredMs).toBeGreaterThanOrEqual(HOUR_MS);
    expect(figures?.oldestUndeliveredMs).toBeLessThan(HOUR_MS + 60_000);
  });

  it('a lease that is running and one that ended without an outcome are told apart', async () => {
    await emit(noted(randomUUID()), noted(randomUUID()));
    await app.database.query(
      `update outbox_delivery set attempts = 1, lease_version = 7,
       lease_until = now() + case when id = (select min(id) from outbox_delivery) then interval '1 hour' else interval '-1 hour' end`,
    );
    expect(await backlog()).toMatchObject({ pending: 0, processing: 1, expiredLeases: 1 });
  });

  it('an empty queue has no backlog', async () => {
    await emit(noted(randomUUID()));
    await app.dispatcher.drain();
    expect(await backlog()).toBeUndefined();
  });
});

describe('retention', () => {
  for (const completion of ['delete', 'keep', 'archive'] as const) {
    it(`removes old delivered events and nothing that is undelivered or dead (completion "${completion}")`, async () => {
      let answer: 'delivered' | 'dead' = 'delivered';
      const memory = new MemoryTransport({
        respond: () => (answer === 'delivered' ? { kind: 'delivered' } : { kind: 'dead', error: 'as told' }),
      });
      const app = await startOutboxApp({ memory, outbox: { completion } });
      const emit = (...events: object[]): Promise<string[]> => app.outbox.transaction(() => app.outbox.emit(events));
      const delivered = await emit(noted(randomUUID()), step(randomUUID(), 1), noted(randomUUID()));
      await app.dispatcher.drain();
      answer = 'dead';
      const dead = await emit(noted(randomUUID()));
      await app.dispatcher.drain();
      const pending = await emit(noted(randomUUID()));
      const age = "created_at = created_at - interval '30 days'";
      await app.database.query(`update outbox_event set ${age}`);
      await app.database.query(`update outbox_delivery set ${age}, done_at = done_at - interval '30 days'`);
      await app.database.query("update outbox_delivery_archive set done_at = done_at - interval '30 days'");
      answer = 'delivered';
      const young = await emit(noted(randomUUID()));

      const pruned = await app.module.get(RetentionService).prune({ olderThanMs: 24 * HOUR_MS, batchSize: 2 });
      expect(pruned).toEqual({ deliveries: completion === 'delete' ? 0 : 3, events: 3, yielded: false });
      const left = await app.database.query<{ id: string }>('select id from outbox_event');
      expect(left.map(({ id }) => id).sort()).toEqual([...dead, ...pending, ...young].sort());
      expect(left.map(({ id }) => id)).not.toContain(delivered[0]);
      await app.close();
    });
  }
});
