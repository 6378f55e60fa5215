import { Controller, Injectable, Post } from '@nestjs/common';
import { InjectDataSource, InjectRepository } from '@nestjs/typeorm';
import { Inbox, InboxEvent, type InboxModuleOptions } from 'nestjs-transactional-outbox';
import { DataSource, Repository } from 'typeorm';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { type Answer, type InboxApp, OrderPlaced, orderPlaced, Shipment, startInboxApp } from './inbox-app.js';

/** Holds handlers until the test lets them go on, and counts them. */
@Injectable()
class Gate {
  calls = 0;
  failures = 0;
  needsSecondConnection = false;
  private open: () => void = () => undefined;
  private waiting: Promise<void> = Promise.resolve();

  close(): void {
    this.waiting = new Promise((resolve) => {
      this.open = resolve;
    });
  }

  letGo(): void {
    this.open();
  }

  async pass(): Promise<void> {
    this.calls += 1;
    await this.waiting;
    if (this.failures === 0) return;
    this.failures -= 1;
    throw new Error('this one fails after its effect');
  }
}

@Controller()
class ShippingController {
  constructor(
    @InjectRepository(Shipment) private readonly shipments: Repository<Shipment>,
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly gate: Gate,
  ) {}

  @Post('events')
  @Inbox('shipping')
  async onOrderPlaced(@InboxEvent(OrderPlaced) event: OrderPlaced): Promise<void> {
    await this.shipments.save({ orderId: event.orderId });
    await this.gate.pass();
    if (this.gate.needsSecondConnection) await this.useAnotherConnection();
  }

  private async useAnotherConnection(): Promise<void> {
    const runner = this.dataSource.createQueryRunner();
    try {
      await runner.query('select 1');
    } finally {
      await runner.release();
    }
  }
}

const byStatus = (answers: readonly Answer[]): number[] => answers.map((answer) => answer.status).sort((a, b) => b - a);
const duplicates = (count: number): number[] => new Array<number>(count).fill(200);

describe('Deliveries of one event at the same time', () => {
  const apps: InboxApp[] = [];

  afterEach(async () => {
    for (const app of apps.splice(0).reverse()) await app.close();
  });

  /** A second application on the same database stands for another process: it shares nothing with the first. */
  async function start(inbox: Partial<InboxModuleOptions> = {}, poolSize = 10): Promise<[InboxApp, Gate]> {
    const database = apps[0]?.database;
    const app = await startInboxApp({
      controllers: [ShippingController],
      providers: [Gate],
      inbox,
      poolSize,
      ...(database ? { database } : {}),
    });
    apps.push(app);
    return [app, app.app.get(Gate)];
  }

  async function waitsForLock(app: InboxApp, count = 1): Promise<void> {
    await eventually(async () => {
      const rows = await app.database.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      expect(rows.length).toBeGreaterThanOrEqual(count);
    });
  }

  async function handlersRun(gate: Gate, count: number): Promise<void> {
    await eventually(() => expect(gate.calls).toBe(count));
  }

  it('have one effect: the first is answered, all others are duplicates', async () => {
    const [app, gate] = await start();
    gate.close();
    const message = orderPlaced();

    const answers = Array.from({ length: 20 }, () => app.deliver(message));
    await handlersRun(gate, 1);
    gate.letGo();

    expect(byStatus(await Promise.all(answers))).toEqual([201, ...duplicates(19)]);
    expect(gate.calls).toBe(1);
    expect(await app.counts()).toEqual({ shipments: 1, records: 1 });
  });

  it('have one effect when the first throws: another one takes over', async () => {
    const [app, gate] = await start();
    gate.close();
    gate.failures = 1;
    const message = orderPlaced();

    const answers = Array.from({ length: 5 }, () => app.deliver(message));
    await handlersRun(gate, 1);
    gate.letGo();

    expect(byStatus(await Promise.all(answers))).toEqual([500, 201, ...duplicates(3)]);
    expect(gate.calls).toBe(2);
    expect(await app.counts()).toEqual({ shipments: 1, records: 1 });
  });

  it('have one effect in two processes: the second waits for the first to commit', async () => {
    const [one, firstGate] = await start();
    const [two, secondGate] = await start();
    firstGate.close();
    const message = orderPlaced();

    const first = one.deliver(message);
    await handlersRun(firstGate, 1);
    const second = two.deliver(message);
    await waitsForLock(one);
    firstGate.letGo();

    expect((await first).status).toBe(201);
    expect((await second).status).toBe(200);
    expect(secondGate.calls).toBe(0);
    expect(await one.counts()).toEqual({ shipments: 1, records: 1 });
  });

  it('have one effect in two processes when the first rolls back: the second takes over', async () => {
    const [one, firstGate] = await start();
    const [two, secondGate] = await start();
    firstGate.close();
    firstGate.failures = 1;
    const message = orderPlaced();

    const first = one.deliver(message);
    await handlersRun(firstGate, 1);
    const second = two.deliver(message);
    await waitsForLock(one);
    firstGate.letGo();

    expect((await first).status).toBe(500);
    expect((await second).status).toBe(201);
    expect(secondGate.calls).toBe(1);
    expect(await one.counts()).toEqual({ shipments: 1, records: 1 });
  });

  it('have one effect when the connection of the first is killed while the second waits', async () => {
    const [one, firstGate] = await start();
    const [two] = await start();
    firstGate.close();
    const message = orderPlaced();

    const first = one.deliver(message);
    await handlersRun(firstGate, 1);
    const second = two.deliver(message);
    await waitsForLock(one);
    await one.database.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and state = 'idle in transaction'",
    );
    expect((await second).status).toBe(201);
    firstGate.letGo();

    expect((await first).status).toBeGreaterThanOrEqual(500);
    expect(await one.counts()).toEqual({ shipments: 1, records: 1 });
  });

  it('are put off with 503 and Retry-After when the first, in another process, takes longer than waitMs', async () => {
    const [one, gate] = await start();
    const [two, secondGate] = await start({ waitMs: 100, retryAfterSeconds: 7 });
    gate.close();
    const message = orderPlaced();

    const first = one.deliver(message);
    await handlersRun(gate, 1);
    const second = await two.deliver(message);
    expect(second.status).toBe(503);
    expect(second.headers.get('retry-after')).toBe('7');
    expect(second.json).toMatchObject({ statusCode: 503, code: 'INBOX_UNAVAILABLE' });
    expect(secondGate.calls).toBe(0);
    gate.letGo();

    expect((await first).status).toBe(201);
    expect((await two.deliver(message)).status).toBe(200);
    expect(await one.counts()).toEqual({ shipments: 1, records: 1 });
  });

  it('are put off with 503 when the first, in the same process, takes longer than waitMs', async () => {
    const [app, gate] = await start({ waitMs: 100 });
    gate.close();
    const message = orderPlaced();

    const first = app.deliver(message);
    await handlersRun(gate, 1);
    const second = await app.deliver(message);
    expect(second.status).toBe(503);
    expect(second.headers.get('retry-after')).toBe('5');
    gate.letGo();

    expect((await first).status).toBe(201);
    expect(gate.calls).toBe(1);
  });

  it('do not exhaust the pool, so that the first one can finish although it needs a second connection', async () => {
    const [app, gate] = await start({ waitMs: 20_000 }, 2);
    gate.close();
    gate.needsSecondConnection = true;
    const message = orderPlaced();

    const answers = Array.from({ length: 20 }, () => app.deliver(message));
    await handlersRun(gate, 1);
    gate.letGo();

    expect(byStatus(await Promise.all(answers))).toEqual([201, ...duplicates(19)]);
    expect(await app.counts()).toEqual({ shipments: 1, records: 1 });
  });

  it.each(['REPEATABLE READ', 'SERIALIZABLE'] as const)(
    'have one effect under %s: who cannot see the winner is told to try again',
    async (isolation) => {
      const [one, gate] = await start({ isolation });
      const [two] = await start({ isolation });
      gate.close();
      const message = orderPlaced();

      const first = one.deliver(message);
      await handlersRun(gate, 1);
      const second = two.deliver(message);
      await waitsForLock(one);
      gate.letGo();

      expect((await first).status).toBe(201);
      expect((await second).status).toBe(503);
      expect((await second).headers.get('retry-after')).toBe('5');
      expect((await two.deliver(message)).status).toBe(200);
      expect(await one.counts()).toEqual({ shipments: 1, records: 1 });
    },
  );

  it('of different events do not wait for each other', async () => {
    const [app, gate] = await start();
    gate.close();

    const answers = [app.deliver(orderPlaced()), app.deliver(orderPlaced())];
    await handlersRun(gate, 2);
    gate.letGo();

    expect(byStatus(await Promise.all(answers))).toEqual([201, 201]);
  });

  it('leave the lock_timeout of the transaction as it was', async () => {
    const [app] = await start();
    const { PostgresInboxStore, resolveInboxNames } = await import('../../libs/outbox/src/store/index.js');
    const store = new PostgresInboxStore(resolveInboxNames(), { preparesStatements: true });
    const entry = { consumer: 'c', eventId: 'e', eventType: 't', contentDigest: Buffer.alloc(32) };

    await app.dataSource.transaction(async (manager) => {
      await manager.query("set local lock_timeout = '1234ms'");
      expect(await store.record(manager, entry, 50)).toEqual({ isRecorded: true });
      expect(await manager.query('show lock_timeout')).toEqual([{ lock_timeout: '1234ms' }]);
      expect(await store.record(manager, entry, 50)).toMatchObject({ isRecorded: false });
      expect(await manager.query('show lock_timeout')).toEqual([{ lock_timeout: '1234ms' }]);
    });
  });
});
