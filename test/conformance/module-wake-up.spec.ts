import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { ConfigurationError } from 'nestjs-transactional-outbox';
import type { EntityManager } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DispatcherEngine } from '../../libs/outbox/src/dispatch/dispatcher-engine.js';
import { type ClaimWatch, watchClaims } from '../support/claim-watch.js';
import { eventually } from '../support/eventually.js';
import { noted, type OutboxApp, startOutboxApp } from '../support/outbox-app.js';

const HOUR_MS = 3_600_000;

describe('a loop that would poll once an hour', () => {
  let app: OutboxApp;
  let watch: ClaimWatch;
  beforeEach(async () => {
    watch = watchClaims();
    app = await startOutboxApp({
      outbox: { dispatcher: { schedule: 'loop', pollIntervalMs: HOUR_MS, wakeUp: false } },
    });
    await watch.quiet();
  });
  afterEach(async () => {
    await app.close();
    watch.stop();
  });

  const emitThrough = (manager: EntityManager): Promise<string[]> => app.outbox.emit(manager, noted(randomUUID()));
  const delivered = (): number => app.memory.accepted.length;

  it('delivers at once what this process committed, however the transaction was opened', async () => {
    await app.service.place(app.orders.create({ id: randomUUID(), amountCents: 1 }));
    await app.memory.waitForCount(1, 10_000);
    await app.outbox.transaction(emitThrough);
    await app.memory.waitForCount(2, 10_000);
    await app.dataSource.transaction(emitThrough);
    await app.memory.waitForCount(3, 10_000);
    const runner = app.dataSource.createQueryRunner();
    await runner.startTransaction();
    await emitThrough(runner.manager);
    await runner.commitTransaction();
    await runner.release();
    await app.memory.waitForCount(4, 10_000);
  });

  it('is woken by the commit, never by the release of a savepoint', async () => {
    const before = watch.claims;
    await app.dataSource.transaction(async (manager) => {
      await manager.transaction(emitThrough);
      await manager.transaction((nested) => nested.query('select 1'));
      await manager.query('select pg_backend_pid()');
      expect(watch.claims).toBe(before);
    });
    await app.memory.waitForCount(1, 10_000);
    expect(watch.claims).toBeGreaterThan(before);
  });

  it('is not woken by a transaction that rolls back', async () => {
    const before = watch.claims;
    const failing = app.dataSource.transaction(async (manager) => {
      await emitThrough(manager);
      await manager.transaction(emitThrough);
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    await expect(
      app.outbox.transaction(async (manager) => {
        await emitThrough(manager);
        throw new Error('again');
      }),
    ).rejects.toThrow('again');
    await app.dataSource.query('select 1'); // a turn for what would wake it
    expect(watch.claims).toBe(before);

    // The next commit on the very same connections wakes it once, for itself alone.
    await app.outbox.transaction(emitThrough);
    await app.memory.waitForCount(1, 10_000);
    await watch.quiet();
    expect(delivered()).toBe(1);
  });

  it('is not woken by a commit that PostgreSQL turned into a rollback', async () => {
    const before = watch.claims;
    const runner = app.dataSource.createQueryRunner();
    await runner.startTransaction();
    await emitThrough(runner.manager);
    await expect(runner.query('select 1/0')).rejects.toThrow('division by zero');
    await runner.commitTransaction();
    await runner.release();
    expect(await app.database.query('select 1 from outbox_event')).toEqual([]);
    expect(watch.claims).toBe(before);
  });
});

describe('a wake-up that goes wrong', () => {
  let app: OutboxApp;
  beforeEach(async () => {
    app = await startOutboxApp({
      outbox: { dispatcher: { schedule: 'loop', pollIntervalMs: HOUR_MS, wakeUp: false } },
    });
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await app.close();
  });

  it('comes after the transaction was answered, and reaches neither it nor the process', async () => {
    const complaints = vi.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
    const order: string[] = [];
    vi.spyOn(DispatcherEngine.prototype, 'wake').mockImplementation(() => {
      order.push('woken');
      throw new Error('the loop is broken');
    });
    const [id] = await app.dataSource.transaction((manager) => app.outbox.emit(manager, noted(randomUUID())));
    order.push('committed');
    await eventually(() => expect(order).toEqual(['committed', 'woken', 'woken']));
    for (const [line] of complaints.mock.calls) expect(line).toMatch(/^wake-up failed, going on error=.*the loop is/);
    expect(complaints).toHaveBeenCalledTimes(2);
    // It is there, and found without being told of: by polling, or by the first look of a loop that starts slowly.
    expect(await app.database.query('select id from outbox_event')).toEqual([{ id }]);
  });
});

describe('a dispatcher that is switched off', () => {
  let app: OutboxApp;
  let watch: ClaimWatch;
  beforeEach(async () => {
    watch = watchClaims();
    app = await startOutboxApp({ outbox: { dispatcher: { enabled: false, schedule: false } } });
  });
  afterEach(async () => {
    await app.close();
    watch.stop();
  });

  it('says so when it is asked to dispatch, and has claimed nothing', async () => {
    const [id] = await app.outbox.transaction(() => app.outbox.emit(noted(randomUUID())));
    for (const asked of [() => app.dispatcher.dispatchOnce(), () => app.dispatcher.drain()]) {
      await expect((async () => asked())()).rejects.toThrow(ConfigurationError);
      await expect((async () => asked())()).rejects.toThrow('"dispatcher.enabled": false');
    }
    const deliveries = await app.database.query('select event_id, attempts, lease_version::text from outbox_delivery');
    expect(deliveries).toEqual([{ event_id: id, attempts: 0, lease_version: '0' }]);
    expect(watch.claims).toBe(0);
  });

  it('opens no connection of its own', async () => {
    await app.outbox.transaction(() => app.outbox.emit(noted(randomUUID())));
    const sessions = await app.database.query(
      `select application_name from pg_stat_activity where datname = current_database() and application_name like '%:outbox%'`,
    );
    expect(sessions).toEqual([]);
  });
});

it('a dispatcher whose application has ended says so when it is asked to dispatch', async () => {
  const { close, dispatcher } = await startOutboxApp();
  await close();
  for (const asked of [() => dispatcher.dispatchOnce(), () => dispatcher.drain()]) {
    await expect((async () => asked())()).rejects.toThrow('the dispatcher is not running');
  }
});
