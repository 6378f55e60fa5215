import { randomUUID } from 'node:crypto';
import { EventNotStoredError } from 'nestjs-transactional-outbox';
import type { EntityManager } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { gate } from '../support/gate.js';
import { type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';

describe('the counters of ordered aggregates', () => {
  let app: OutboxApp;
  beforeAll(async () => {
    app = await startOutboxApp();
  });
  afterAll(() => app.close());
  beforeEach(() => app.database.query('truncate outbox_event, outbox_delivery, outbox_aggregate'));

  /** A transaction that stays open until it is told to commit. */
  function openTransaction(work: (manager: EntityManager) => Promise<unknown>) {
    const [worked, mayCommit] = [gate(), gate()];
    const ended = app.dataSource.transaction(async (manager) => {
      await work(manager);
      worked.open();
      await mayCommit.opened;
    });
    const commit = (): Promise<void> => {
      mayCommit.open();
      return ended;
    };
    return { worked: Promise.race([worked.opened, ended]), commit };
  }

  const untilWaiting = (count: number) =>
    eventually(async () => {
      const waiting = await app.database.query(
        `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      expect(waiting).toHaveLength(count);
    });

  const numbered = () =>
    app.database.query(`select (payload -> 'step')::int as step, sequence::int from outbox_event order by sequence`);

  it('a savepoint that is rolled back gives its numbers back', async () => {
    const id = randomUUID();
    await app.dataSource.transaction(async (manager) => {
      await app.outbox.emit(manager, step(id, 1));
      await manager
        .transaction(async (nested) => {
          await app.outbox.emit(nested, [step(id, 2), step(id, 3)]);
          throw new Error('back');
        })
        .catch(() => undefined);
      await app.outbox.emit(manager, step(id, 4));
    });
    expect(await numbered()).toEqual([
      { step: 1, sequence: 1 },
      { step: 4, sequence: 2 },
    ]);
  });

  it('lists that name the same aggregates in opposite order never deadlock', async () => {
    const [a, m, z] = ['a', 'm', 'z'].map((letter) => `${letter}-${randomUUID()}`) as [string, string, string];
    // Both lists have to stop at the middle one; each would go on to the end that the other has, if it began elsewhere.
    const middle = openTransaction((manager) => app.outbox.emit(manager, step(m, 1)));
    await middle.worked;
    const forth = app.dataSource.transaction((manager) =>
      app.outbox.emit(manager, [step(a, 2), step(m, 2), step(z, 2)]),
    );
    await untilWaiting(1);
    const back = app.dataSource.transaction((manager) =>
      app.outbox.emit(manager, [step(z, 3), step(m, 3), step(a, 3)]),
    );
    await untilWaiting(2);
    await middle.commit();
    await Promise.all([forth, back]);
    expect(await app.database.query('select aggregateid, sequence::int from outbox_aggregate order by 1')).toEqual([
      { aggregateid: a, sequence: 2 },
      { aggregateid: m, sequence: 3 },
      { aggregateid: z, sequence: 2 },
    ]);
  });

  it('a wait that runs into lock_timeout is an error to try again', async () => {
    const id = randomUUID();
    const first = openTransaction((manager) => app.outbox.emit(manager, step(id, 1)));
    await first.worked;
    const second = app.dataSource.transaction(async (manager) => {
      await manager.query(`set local lock_timeout = '1ms'`);
      await app.outbox.emit(manager, step(id, 2));
    });
    await expect(second).rejects.toThrow(EventNotStoredError);
    await expect(second).rejects.toMatchObject({ retryable: true, cause: { code: '55P03' } });
    await first.commit();
  });

  it('so is a conflict above READ COMMITTED', async () => {
    const id = randomUUID();
    const second = app.dataSource.transaction('REPEATABLE READ', async (manager) => {
      await manager.query('select 1 from outbox_aggregate');
      await app.outbox.transaction(() => app.outbox.emit(step(id, 1)));
      await app.outbox.emit(manager, step(id, 2));
    });
    await expect(second).rejects.toMatchObject({ retryable: true, cause: { code: '40001' } });
    expect(await numbered()).toEqual([{ step: 1, sequence: 1 }]);
  });
});
