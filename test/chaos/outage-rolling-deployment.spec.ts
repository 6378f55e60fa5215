import { randomUUID } from 'node:crypto';
import {
  BacklogService,
  DeadLetterService,
  type OutboxModuleOptions,
  RetentionService,
  UnroutedEventError,
} from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, describe, expect, it } from 'vitest';
import { byHand } from '../support/by-hand.js';
import {
  noted,
  OrderNoted,
  type OutboxApp,
  SkippableStep,
  skippable,
  startOutboxApp,
  step,
} from '../support/outbox-app.js';

type Options = Partial<OutboxModuleOptions>;

const ONLY_NOTED = [{ events: [OrderNoted], to: ['memory'] }];

describe('while two versions of an application run side by side', () => {
  let newer: OutboxApp;
  let older: OutboxApp;
  const start = async (newerOptions: Options, olderOptions: Options): Promise<void> => {
    newer = await startOutboxApp({ outbox: newerOptions });
    older = await startOutboxApp({ database: newer.database, outbox: olderOptions });
  };
  afterEach(async () => {
    await older.close();
    await newer.close();
  });

  const emit = (app: OutboxApp, ...events: object[]): Promise<string[]> =>
    app.outbox.transaction(() => app.outbox.emit(events));
  const queue = (): Promise<unknown[]> => newer.database.query('select * from outbox_delivery order by id');
  const idsIn = (memory: MemoryTransport): string[] => memory.received.map(({ envelope }) => envelope.id);
  const refusing = (): MemoryTransport =>
    new MemoryTransport({ respond: () => ({ kind: 'dead', error: 'refused for good' }) });

  it('a delivery to a destination that only the newer one knows is left untouched by the older one', async () => {
    const search = new MemoryTransport();
    await start(
      {
        destinations: { memory: { transport: new MemoryTransport() }, search: { transport: search } },
        routes: [{ events: [OrderNoted], to: ['memory', 'search'] }],
      },
      {},
    );
    const [id] = await emit(newer, noted(randomUUID()));
    const [, forSearch] = await queue();
    expect(await older.dispatcher.drain()).toMatchObject({ claimed: 1, delivered: 1 });
    expect(idsIn(older.memory)).toEqual([id]);
    expect(await queue()).toEqual([forSearch]);
    expect(await older.module.get(BacklogService).read()).toMatchObject([{ destination: 'search', pending: 1 }]);

    expect(await newer.dispatcher.drain()).toMatchObject({ claimed: 1, delivered: 1 });
    expect(idsIn(search)).toEqual([id]);
  });

  it('an event of a type that the older one does not know is delivered by it, and cannot be emitted by it', async () => {
    await start({}, { routes: ONLY_NOTED });
    const ids = await emit(newer, step(randomUUID(), 1), step(randomUUID(), 1));
    expect(await older.dispatcher.drain()).toMatchObject({ delivered: 2 });
    expect(idsIn(older.memory).toSorted()).toEqual(ids.toSorted());
    await expect(emit(older, step(randomUUID(), 2))).rejects.toBeInstanceOf(UnroutedEventError);
  });

  it('a dead letter of a type that the older one does not know holds its followers until a person decides', async () => {
    await start({}, { routes: ONLY_NOTED, destinations: { memory: { transport: refusing() } } });
    const orderId = randomUUID();
    const [dead, follower] = await emit(newer, skippable(orderId, 1), skippable(orderId, 2));
    expect(await older.dispatcher.drain()).toMatchObject({ dead: 1, delivered: 0 });
    await newer.dispatcher.drain();
    expect(idsIn(newer.memory)).toEqual([]);

    const deadLetters = newer.module.get(DeadLetterService);
    expect(await deadLetters.list()).toMatchObject([{ eventId: dead, blocksKey: true }]);
    await deadLetters.redrive({ destination: 'memory' }, byHand);
    await newer.dispatcher.drain();
    expect(idsIn(newer.memory)).toEqual([dead, follower]);
  });

  it('columns that a newer version added disturb an older one in nothing', async () => {
    await start(
      { routes: [{ events: [OrderNoted, SkippableStep], to: ['memory'] }] },
      { completion: 'archive', destinations: { memory: { transport: refusing(), maxAttempts: 1 } } },
    );
    for (const table of ['event', 'delivery', 'delivery_archive', 'lane', 'aggregate', 'destination'])
      await newer.database.query(
        `alter table outbox_${table} add column later_on text default 'new', add column even_later int`,
      );
    const restarted = await startOutboxApp({
      database: newer.database,
      outbox: { completion: 'archive', migrate: 'verify' },
    });
    const ids = await emit(restarted, noted(randomUUID()), skippable(randomUUID(), 1));
    expect(await older.dispatcher.drain()).toMatchObject({ dead: 2 });
    expect(await older.module.get(DeadLetterService).redrive({ destination: 'memory' }, byHand)).toBe(2);
    expect(await restarted.dispatcher.drain()).toMatchObject({ delivered: 2 });
    expect(idsIn(restarted.memory).toSorted()).toEqual(ids.toSorted());
    expect(await restarted.module.get(RetentionService).prune({ olderThanMs: 0 })).toEqual({
      deliveries: 2,
      events: 2,
      yielded: false,
    });
    await restarted.close();
  });
});
