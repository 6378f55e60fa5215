import { randomUUID } from 'node:crypto';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delivered } from '../../libs/outbox/src/transports/index.js';
import { BareDispatcher } from '../support/bare-dispatcher.js';
import {
  finalization,
  idsOf,
  mustClaim,
  type OutboxQueue,
  type QueueStore,
  startOutboxQueue,
} from '../support/outbox-queue.js';

const ROWS = {
  delete: { queue: 0, archive: 0 },
  keep: { queue: 2, archive: 0 },
  archive: { queue: 0, archive: 2 },
} as const;

describe.each(['delete', 'keep', 'archive'] as const)('with completion "%s"', (completion) => {
  let queue: OutboxQueue;
  let store: QueueStore;
  beforeEach(async () => {
    queue = await startOutboxQueue({ outbox: { completion } });
    store = queue.openStore();
  });
  afterEach(() => queue.close());

  const status = (): Promise<Record<string, unknown>[]> =>
    queue.database.query(
      `select event_id, destination, state, attempts, last_error, available_at is not null as "isScheduled",
         done_at is not null as "hasEnd" from outbox_event_status order by created_at, event_id`,
    );
  const count = async (table: string): Promise<number> => {
    const [row] = await queue.database.query<{ count: number }>(`select count(*)::int from ${table}`);
    return row?.count ?? Number.NaN;
  };

  it('a delivered event leaves the queue as told, stays in the log, and shows as done', async () => {
    await queue.emitUnordered(1);
    await queue.emitOrdered(randomUUID(), 1);
    await new BareDispatcher({ store, transport: new MemoryTransport() }).drain();
    expect(await count('outbox_delivery')).toBe(ROWS[completion].queue);
    expect(await count('outbox_delivery_archive')).toBe(ROWS[completion].archive);
    expect(await count('outbox_event')).toBe(2);
    const known = completion === 'delete' ? { attempts: null, hasEnd: false } : { attempts: 1, hasEnd: true };
    expect(await status()).toMatchObject([
      { destination: 'memory', state: 'done', isScheduled: false, ...known },
      { destination: 'memory', state: 'done', isScheduled: false, ...known },
    ]);
  });

  it('is never claimed again', async () => {
    await queue.emitUnordered(1);
    await queue.emitOrdered('o', 2);
    const transport = new MemoryTransport();
    const dispatcher = new BareDispatcher({ store, transport });
    await dispatcher.drain();
    await queue.expireLeases();
    await dispatcher.drain();
    expect(transport.received).toHaveLength(3);
  });

  it('shows what is pending, processing and dead', async () => {
    const [dead, retried] = await queue.emitUnordered(2);
    const transport = new MemoryTransport({
      respond: ({ envelope }) =>
        envelope.id === dead ? { kind: 'dead', error: 'no' } : { kind: 'retry', error: 'soon' },
    });
    await new BareDispatcher({ store, transport, retryBaseMs: 3_600_000, retryCapMs: 3_600_000 }).drain();
    const [taken] = await queue.emitUnordered(1);
    await mustClaim(store);
    const [untouched] = await queue.emitUnordered(1);
    const shown = new Map((await status()).map((row) => [row.event_id, row]));
    expect(shown.get(dead)).toMatchObject({ state: 'dead', attempts: 1, last_error: 'no', isScheduled: false });
    expect(shown.get(retried)).toMatchObject({ state: 'pending', attempts: 1, last_error: 'soon', isScheduled: true });
    expect(shown.get(taken)).toMatchObject({ state: 'processing', attempts: 1, last_error: null });
    expect(shown.get(untouched)).toMatchObject({ state: 'pending', attempts: 0, last_error: null });
  });

  it('an error of an earlier attempt is forgotten when the event was delivered', async () => {
    await queue.emitUnordered(1);
    const transport = new MemoryTransport({
      respond: (_, attempt) => (attempt === 1 ? { kind: 'retry', error: 'soon' } : delivered),
    });
    const dispatcher = new BareDispatcher({ store, transport, retryBaseMs: 3_600_000, retryCapMs: 3_600_000 });
    await dispatcher.drain();
    await queue.makeDue();
    await dispatcher.drain();
    expect(await status()).toMatchObject([{ state: 'done', last_error: null }]);
  });

  it('reporting a success twice finishes it once', async () => {
    await queue.emitUnordered(2);
    const claim = await mustClaim(store);
    expect(await store.finalize(claim, finalization({ delivered: idsOf(claim) }))).toBe(0);
    expect(await store.finalize(claim, finalization({ delivered: idsOf(claim) }))).toBe(2);
    expect(await count('outbox_delivery')).toBe(ROWS[completion].queue);
    expect(await count('outbox_delivery_archive')).toBe(ROWS[completion].archive);
  });
});
