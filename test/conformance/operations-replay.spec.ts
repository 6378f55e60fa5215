import { randomUUID } from 'node:crypto';
import {
  type Completion,
  ConfigurationError,
  DeadLetterService,
  OperationLogService,
  type ReplayFilter,
  ReplayService,
} from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, describe, expect, it } from 'vitest';
import { byHand } from '../support/by-hand.js';
import { noted, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';

describe.each<Completion>(['delete', 'keep', 'archive'])(
  'events that were delivered, with completion %s',
  (completion) => {
    let app: OutboxApp;
    const start = async (memory = new MemoryTransport()): Promise<void> => {
      app = await startOutboxApp({ memory, outbox: { completion } });
    };
    afterEach(() => app.close());

    const deliver = async (...events: object[]): Promise<string[]> => {
      const ids = await app.outbox.transaction(() => app.outbox.emit(events));
      await app.dispatcher.drain();
      app.memory.clear();
      return ids;
    };
    const replay = (filter: ReplayFilter): Promise<number> => app.module.get(ReplayService).replay(filter, byHand);
    const drained = async (): Promise<string[]> => {
      await app.dispatcher.drain();
      const ids = app.memory.accepted.map(({ envelope }) => envelope.id);
      app.memory.clear();
      return ids;
    };

    it('are sent again under the same ids, each time it is asked for, and differ for a broker that drops duplicates', async () => {
      await start();
      const ids = await deliver(noted(randomUUID()), noted(randomUUID()));
      const redrives = new Set<number>();
      for (let time = 0; time < 2; time += 1) {
        expect(await replay({ type: 'order.noted' })).toBe(2);
        await app.dispatcher.drain();
        expect(app.memory.accepted.map(({ envelope }) => envelope.id).toSorted()).toEqual(ids.toSorted());
        for (const sent of app.memory.accepted) redrives.add(sent.redrives);
        app.memory.clear();
      }
      expect(redrives.size).toBe(2);
      expect(redrives).not.toContain(0);
      expect(
        await app.database.query(`select state, count(*)::int as total from outbox_event_status group by state`),
      ).toEqual([{ state: 'done', total: 2 }]);
    });

    it('of an aggregate come in their order again, one at a time', async () => {
      await start();
      const order = randomUUID();
      const ids = await deliver(step(order, 1), step(order, 2), step(order, 3));
      await replay({ aggregateType: 'order', aggregateId: order });
      expect(await drained()).toEqual(ids);
    });

    it('are chosen by each condition, and by all of them together', async () => {
      await start();
      const order = randomUUID();
      const [early] = await deliver(noted(order));
      const [row] = await app.database.query<{ between: Date }>('select clock_timestamp() as between');
      const between = row?.between ?? new Date(0);
      const [late, stepped] = await deliver(noted(randomUUID()), step(order, 1));
      const sent = async (filter: ReplayFilter): Promise<unknown> => {
        await replay(filter);
        return (await drained()).toSorted();
      };
      expect(await sent({ emittedBefore: between })).toEqual([early]);
      expect(await sent({ emittedAfter: between })).toEqual([late, stepped].toSorted());
      expect(await sent({ aggregateId: order })).toEqual([early, stepped].toSorted());
      expect(await sent({ type: 'order.noted', aggregateId: order })).toEqual([early]);
      expect(await sent({ eventIds: [late ?? ''] })).toEqual([late]);
      expect(await sent({ destination: 'elsewhere' })).toEqual([]);
    });

    it('are counted first by a dry run, which sends nothing', async () => {
      await start();
      await deliver(noted(randomUUID()), noted(randomUUID()));
      expect(await app.module.get(ReplayService).preview({ destination: 'memory' })).toMatchObject([
        { destination: 'memory', count: 2, oldest: expect.any(Date), newest: expect.any(Date) },
      ]);
      expect(await drained()).toEqual([]);
    });

    it('are under no token any more, so that who delivered them once cannot finish them twice', async () => {
      await start();
      await deliver(noted(randomUUID()));
      await replay({ destination: 'memory' });
      expect(await app.database.query('select lease_version::text as token from outbox_delivery')).toEqual([
        { token: '0' },
      ]);
    });

    it('are recorded with who, why and how many', async () => {
      await start();
      await deliver(noted(randomUUID()));
      await replay({ destination: 'memory' });
      expect(await app.module.get(OperationLogService).list()).toMatchObject([
        { action: 'replay', ...byHand, details: { destination: 'memory' }, affected: 1 },
      ]);
    });

    it('but not those that are on their way or dead', async () => {
      const memory = new MemoryTransport({
        respond: ({ envelope }) =>
          envelope.type === 'order.step' ? { kind: 'dead', error: 'no' } : { kind: 'delivered' },
      });
      await start(memory);
      await deliver(step(randomUUID(), 1));
      await app.outbox.transaction(() => app.outbox.emit(noted(randomUUID())));
      expect(await replay({ destination: 'memory' })).toBe(0);
      expect(await app.module.get(OperationLogService).list()).toEqual([]);
    });

    it('and discarded ones too, which then are what became of them', async () => {
      const healthy = { isHealthy: false };
      await start(
        new MemoryTransport({
          respond: () => (healthy.isHealthy ? { kind: 'delivered' } : { kind: 'dead', error: 'no' }),
        }),
      );
      const [id] = await deliver(noted(randomUUID()));
      const state = async (): Promise<unknown> =>
        (await app.database.query('select state from outbox_event_status')).map((row) => row.state);
      await app.module.get(DeadLetterService).discard({ destination: 'memory' }, byHand);
      expect(await state()).toEqual(['discarded']);
      healthy.isHealthy = true;
      expect(await replay({ destination: 'memory' })).toBe(1);
      expect(await state()).toEqual(['pending']);
      expect(await drained()).toEqual([id]);
      expect(await state()).toEqual(['done']);
    });
  },
);

describe('a replay', () => {
  let app: OutboxApp;
  afterEach(() => app.close());

  it('of more than was allowed, of everything, or without a name or a reason, is refused and queues nothing', async () => {
    app = await startOutboxApp();
    await app.outbox.transaction(() => app.outbox.emit([noted(randomUUID()), noted(randomUUID())]));
    await app.dispatcher.drain();
    const service = app.module.get(ReplayService);
    const all = { destination: 'memory' };
    await expect(service.replay(all, byHand, { atMost: 1 })).rejects.toThrow('more than 1 deliveries');
    await expect(service.replay({}, byHand)).rejects.toThrow('empty filter');
    await expect(service.preview({})).rejects.toThrow('empty filter');
    await expect(service.replay(all, { by: ' ', reason: 'x' })).rejects.toThrow('"by"');
    await expect(service.replay(all, { by: 'x', reason: '' })).rejects.toThrow('"reason"');
    await expect(service.replay({ eventIds: ['7'] }, byHand)).rejects.toThrow(ConfigurationError);
    expect(await app.database.query('select 1 from outbox_delivery')).toEqual([]);
  });

  it('with a rate queues that many a second, says how far it is, and stops when it is told to', async () => {
    app = await startOutboxApp();
    await app.outbox.transaction(() => app.outbox.emit(Array.from({ length: 5 }, () => noted(randomUUID()))));
    await app.dispatcher.drain();
    const stop = new AbortController();
    const steps: string[] = [];
    const queued = await app.module.get(ReplayService).replay({ destination: 'memory' }, byHand, {
      perSecond: 2,
      signal: stop.signal,
      onProgress: (done, total) => {
        steps.push(`${done} of ${total}`);
        if (done === 4) stop.abort();
      },
    });
    expect(queued).toBe(4);
    expect(steps).toEqual(['2 of 5', '4 of 5']);
    expect(await app.module.get(OperationLogService).list()).toMatchObject([{ action: 'replay', affected: 4 }]);
  });
});
