import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { noted, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';

const COUNT = 5000;

describe(`${COUNT} events over ${COUNT} aggregates in one emit`, () => {
  let app: OutboxApp;
  beforeAll(async () => {
    app = await startOutboxApp();
  });
  afterAll(() => app.close());
  beforeEach(() => app.database.query('truncate outbox_event, outbox_delivery, outbox_aggregate'));

  it.each([
    ['unordered', noted],
    ['ordered', step],
  ])('%s: one statement, no lock for each of them, ids in the order given', async (_kind, event) => {
    const aggregates = Array.from({ length: COUNT }, () => randomUUID());
    const query = vi.spyOn(pg.Client.prototype, 'query');
    const { ids, locks, statements } = await app.dataSource.transaction(async (manager) => {
      query.mockClear();
      const stored = await app.outbox.emit(
        manager,
        aggregates.map((id) => event(id, 1)),
      );
      const sent = query.mock.calls.length;
      const [held] = await manager.query<{ count: number }[]>(
        'select count(*)::int as count from pg_locks where pid = pg_backend_pid()',
      );
      return { ids: stored, locks: held?.count, statements: sent };
    });
    query.mockRestore();

    expect(statements).toBe(1);
    expect(locks).toBeLessThan(100);
    const rows = await app.database.query(
      'select e.id, e.aggregateid, e.sequence::int from outbox_event e join outbox_delivery d on d.event_id = e.id order by d.id',
    );
    expect(rows).toEqual(
      aggregates.map((aggregateid, index) => ({ id: ids[index], aggregateid, sequence: event === step ? 1 : null })),
    );
  });

  it('a list about few aggregates numbers each of them in the order given', async () => {
    const aggregates = [randomUUID(), randomUUID(), randomUUID()] as const;
    const events = Array.from({ length: 300 }, (_, index) => step(aggregates[index % 3] ?? '', index));
    await app.outbox.transaction(() => app.outbox.emit(events));
    await app.dispatcher.drain();
    for (const [offset, aggregate] of aggregates.entries()) {
      const own = app.memory.accepted.filter(({ envelope }) => envelope.aggregateId === aggregate);
      expect(own.map(({ envelope }) => envelope.sequence)).toEqual(
        Array.from({ length: 100 }, (_, n) => BigInt(n + 1)),
      );
      expect(own.map(({ envelope }) => envelope.payload)).toEqual(
        Array.from({ length: 100 }, (_, n) => ({ orderId: aggregate, step: n * 3 + offset })),
      );
    }
  });
});
