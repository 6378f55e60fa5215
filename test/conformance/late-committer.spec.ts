import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { gate } from '../support/gate.js';
import { noted, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';

/** Reads the log as a relay with a watermark does: what is newer than the newest it has seen. */
class WatermarkReader {
  readonly seen: string[] = [];
  private watermark = '0';

  constructor(private readonly app: OutboxApp) {}

  async read(): Promise<void> {
    const rows = await this.app.database.query<{ id: string; event: string }>(
      'select id::text, event_id as event from outbox_delivery where id > $1 order by outbox_delivery.id',
      [this.watermark],
    );
    this.seen.push(...rows.map(({ event }) => event));
    this.watermark = rows.at(-1)?.id ?? this.watermark;
  }
}

/** A transaction that has emitted and stays open until told what to do. */
async function openEmitting(app: OutboxApp, ...events: object[]) {
  const emitted = gate();
  const decision = gate();
  let end: 'commit' | 'rollback' = 'commit';
  let ids: string[] = [];
  const done = app.dataSource.transaction(async (manager) => {
    ids = await app.outbox.emit(manager, events);
    emitted.open();
    await decision.opened;
    if (end === 'rollback') throw new Error('rolled back on purpose');
  });
  done.catch(() => undefined); // awaited by finish()
  return {
    emitted: Promise.race([emitted.opened, done]),
    ids: () => ids,
    async finish(how: 'commit' | 'rollback'): Promise<void> {
      end = how;
      decision.open();
      if (how === 'commit') await done;
      else await expect(done).rejects.toThrow('rolled back on purpose');
    },
  };
}

describe('an event of a transaction that commits late', () => {
  let app: OutboxApp;
  beforeEach(async () => {
    app = await startOutboxApp({ outbox: { completion: 'keep' } });
  });
  afterEach(() => app.close());

  it('is lost to a reader that goes on from the highest id, and delivered by the dispatcher', async () => {
    const reader = new WatermarkReader(app);
    const late = await openEmitting(app, noted(randomUUID()));
    await late.emitted;
    const [quick] = await app.outbox.transaction(() => app.outbox.emit(noted(randomUUID())));
    await reader.read();
    await app.dispatcher.drain();
    const delivered = (): string[] => app.memory.accepted.map(({ envelope }) => envelope.id);
    expect([reader.seen, delivered()]).toEqual([[quick], [quick]]);

    await late.finish('commit');
    await reader.read();
    await app.dispatcher.drain();
    expect(reader.seen).toEqual([quick]);
    expect(delivered()).toEqual([quick, ...late.ids()]);
  });

  it('is delivered also when its clock, its id and its place in the queue are older than all that was delivered', async () => {
    const late = await openEmitting(app, noted(randomUUID()), step('late', 1));
    await late.emitted;
    for (let round = 0; round < 5; round += 1) {
      await app.outbox.transaction(() => app.outbox.emit([noted(randomUUID()), step('quick', round + 1)]));
      await app.dispatcher.drain();
    }
    expect(app.memory.accepted).toHaveLength(10);
    await late.finish('commit');
    await app.dispatcher.drain();
    expect(
      app.memory.accepted
        .slice(10)
        .map(({ envelope }) => envelope.id)
        .toSorted(),
    ).toEqual(late.ids().toSorted());
  });
});

describe('two transactions that write one ordered aggregate at once', () => {
  let app: OutboxApp;
  beforeEach(async () => {
    app = await startOutboxApp({ outbox: { completion: 'keep' } });
  });
  afterEach(() => app.close());

  /** Until a session waits for the transaction of another one. */
  const someoneWaits = (): Promise<void> =>
    eventually(async () =>
      expect(
        await app.database.query(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        ),
      ).toHaveLength(1),
    );
  const published = (): unknown[] =>
    app.memory.accepted.map(({ envelope }) => [Number(envelope.sequence), envelope.payload]);

  it('go one after the other: sequence and publication follow the order of commit', async () => {
    const first = await openEmitting(app, step('x', 1));
    await first.emitted;
    const second = await openEmitting(app, step('x', 2), step('x', 3));
    await someoneWaits();
    expect(second.ids()).toEqual([]);
    expect(await app.dispatcher.drain()).toMatchObject({ claimed: 0 });
    await first.finish('commit');
    await second.emitted;
    await second.finish('commit');
    await app.dispatcher.drain();
    expect(published()).toEqual([1, 2, 3].map((number) => [number, { orderId: 'x', step: number }]));
  });

  it('leave no gap when the first one rolls back', async () => {
    const first = await openEmitting(app, step('x', 1));
    await first.emitted;
    const second = await openEmitting(app, step('x', 2));
    await someoneWaits();
    await first.finish('rollback');
    await second.emitted;
    await second.finish('commit');
    await app.outbox.transaction(() => app.outbox.emit(step('x', 3)));
    await app.dispatcher.drain();
    expect(published()).toEqual([
      [1, { orderId: 'x', step: 2 }],
      [2, { orderId: 'x', step: 3 }],
    ]);
  });

  it('do not wait for each other when they write different aggregates, or unordered events', async () => {
    const orderId = randomUUID();
    const first = await openEmitting(app, step('x', 1), noted(orderId));
    await first.emitted;
    const second = await openEmitting(app, step('y', 1), noted(orderId));
    await second.emitted;
    await second.finish('commit');
    expect(await app.dispatcher.drain()).toMatchObject({ delivered: 2 });
    await first.finish('commit');
  });
});
