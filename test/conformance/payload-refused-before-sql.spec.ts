import { randomUUID } from 'node:crypto';
import { AggregateId, LimitExceededError, OutboxEvent, UnserializablePayloadError } from 'nestjs-transactional-outbox';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { noted, type OutboxApp, startOutboxApp } from '../support/outbox-app.js';

const LIMIT_BYTES = 1_048_576;
const NUL = String.fromCharCode(0);

@OutboxEvent('anything.noted', { aggregate: 'anything' })
class AnythingNoted {
  @AggregateId()
  id: unknown = 'it';

  constructor(readonly data: unknown) {}
}

const about = (id: unknown): AnythingNoted => Object.assign(new AnythingNoted(1), { id });

/** Counts the messages that begin a statement, simple or prepared, on any connection. */
function watchWire(): () => number {
  const { prototype } = pg.Connection;
  const spies = [vi.spyOn(prototype, 'query'), vi.spyOn(prototype, 'parse'), vi.spyOn(prototype, 'bind')];
  return () => spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
}

describe('an event that is refused', () => {
  let app: OutboxApp;
  beforeAll(async () => {
    app = await startOutboxApp({ events: [AnythingNoted], outbox: { maxPayloadBytes: LIMIT_BYTES } });
  });
  afterAll(() => app.close());
  beforeEach(() => app.database.query('truncate outbox_event, outbox_delivery, orders'));
  afterEach(() => vi.restoreAllMocks());

  it.each<readonly [string, object, new (...args: never[]) => Error]>([
    ['for NUL', new AnythingNoted({ list: [[`x${NUL}`]] }), UnserializablePayloadError],
    ['for BigInt', new AnythingNoted(1n), UnserializablePayloadError],
    ['for a lone surrogate in a key', new AnythingNoted({ '\udc00': 1 }), UnserializablePayloadError],
    ['for one byte too many', new AnythingNoted('x'.repeat(LIMIT_BYTES)), LimitExceededError],
    ['for an aggregate id of 256 characters', about('x'.repeat(256)), LimitExceededError],
    ['together with one that is fine', [noted(randomUUID()), new AnythingNoted(1n)], UnserializablePayloadError],
  ])('%s sends no statement to PostgreSQL, and the transaction stays usable', async (_what, events, kind) => {
    const id = randomUUID();
    await app.outbox.transaction(async () => {
      await app.orders.insert({ id, amountCents: 1 });
      const sent = watchWire();
      await expect(app.outbox.emit(events)).rejects.toThrow(kind);
      expect(sent()).toBe(0);
      await app.outbox.emit(noted(id));
      expect(sent()).toBeGreaterThan(0);
    });
    expect(await app.orders.countBy({ id })).toBe(1);
    expect(await app.database.query('select aggregateid from outbox_event')).toEqual([{ aggregateid: id }]);
  });
});
