import { randomUUID } from 'node:crypto';
import { DestinationService, OperationLogService } from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { byHand } from '../support/by-hand.js';
import { eventually } from '../support/eventually.js';
import { noted, OrderNoted, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';

describe('a destination that somebody pauses', () => {
  let app: OutboxApp;
  let other: MemoryTransport;
  beforeEach(async () => {
    other = new MemoryTransport();
    const memory = new MemoryTransport();
    app = await startOutboxApp({
      memory,
      outbox: {
        destinations: { memory: { transport: memory }, other: { transport: other } },
        routes: [
          { events: [OrderNoted], to: ['memory', 'other'] },
          { events: ['order.step'], to: ['memory'] },
        ],
      },
    });
  });
  afterEach(() => app.close());

  const emit = (...events: object[]): Promise<string[]> => app.outbox.transaction(() => app.outbox.emit(events));
  const destinations = (): DestinationService => app.module.get(DestinationService);
  const stateOf = async (name: string) => (await destinations().list()).find(({ destination }) => destination === name);

  it('gets nothing, loses nothing and spends no attempt, while the others go on', async () => {
    expect(await destinations().pause('memory', byHand)).toBe(true);
    const ids = await emit(noted(randomUUID()), step(randomUUID(), 1));
    expect(await app.dispatcher.drain()).toMatchObject({ claimed: 1, delivered: 1 });
    expect(app.memory.received).toEqual([]);
    expect(other.received.map(({ envelope }) => envelope.id)).toEqual([ids[0]]);
    expect(
      await app.database.query(`select sum(attempts)::int as attempts, count(*)::int as total from outbox_delivery`),
    ).toEqual([{ attempts: 0, total: 2 }]);
    expect((await stateOf('memory'))?.pause).toMatchObject({ by: byHand.by, reason: byHand.reason });
  });

  it('goes on when it is resumed, without a restart, with everything that waited', async () => {
    await destinations().pause('memory', byHand);
    const ids = await emit(noted(randomUUID()), step(randomUUID(), 1));
    await app.dispatcher.drain();
    expect(await destinations().resume('memory', byHand)).toBe(true);
    await eventually(async () => {
      await app.dispatcher.drain();
      expect(app.memory.received.map(({ envelope }) => envelope.id).toSorted()).toEqual(ids.toSorted());
    });
    expect((await stateOf('memory'))?.pause).toBeUndefined();
  });

  it('is not probed while it is paused, although it could not be reached before', async () => {
    await app.database.query(
      `insert into outbox_destination (destination, failures, resume_at) values ('memory', 3, 'epoch')
       on conflict (destination) do update set failures = 3, resume_at = 'epoch'`,
    );
    await destinations().pause('memory', byHand);
    await emit(step(randomUUID(), 1));
    await app.dispatcher.drain();
    expect(app.memory.received).toEqual([]);
    expect(
      await app.database.query(
        `select failures, resume_at = 'epoch' as "isDue" from outbox_destination where destination = 'memory'`,
      ),
    ).toEqual([{ failures: 3, isDue: true }]);
  });

  it('is paused and resumed once, and each is recorded with who and why', async () => {
    const why = (reason: string) => ({ by: 'an operator', reason });
    expect(await destinations().pause('memory', why('their deployment'))).toBe(true);
    expect(await destinations().pause('memory', why('again'))).toBe(false);
    expect(await destinations().resume('memory', why('it is over'))).toBe(true);
    expect(await destinations().resume('memory', why('again'))).toBe(false);
    const details = { destination: 'memory' };
    expect(await app.module.get(OperationLogService).list()).toMatchObject([
      { action: 'resume', by: 'an operator', reason: 'it is over', details, affected: 1 },
      { action: 'pause', by: 'an operator', reason: 'their deployment', details, affected: 1 },
    ]);
  });

  it('that nobody knows is refused with the names that are known, and nothing is written', async () => {
    await expect(destinations().pause('memroy', byHand)).rejects.toThrow(
      'pause() got "memroy", which is no destination. Known are: memory, other.',
    );
    expect(await app.database.query('select 1 from outbox_destination where paused_at is not null')).toEqual([]);
  });
});

describe('a destination that gets events', () => {
  it('shows how much went through it and when, soon after', async () => {
    const app = await startOutboxApp();
    try {
      await app.outbox.transaction(() => app.outbox.emit([noted(randomUUID()), noted(randomUUID())]));
      await app.dispatcher.drain();
      const destinations = app.module.get(DestinationService);
      await eventually(async () =>
        expect(await destinations.list()).toMatchObject([
          { destination: 'memory', delivered: 2, progressedAt: expect.any(Date), failures: 0 },
        ]),
      );
    } finally {
      await app.close();
    }
  });
});
