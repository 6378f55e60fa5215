import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  ForbiddenException,
  Injectable,
  UseGuards,
} from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  BacklogService,
  DeadLetterService,
  InboxEvent,
  InboxModule,
  InboxTransaction,
  OnOutboxEvent,
  OutboxDispatcher,
  OutboxModule,
  type OutboxModuleOptions,
  OutboxService,
} from 'nestjs-transactional-outbox';
import { InProcessTransport } from 'nestjs-transactional-outbox/in-process';
import type { EntityManager } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OrderPaid, OrderPlaced, Shipment } from '../integration/inbox-app.js';
import { byHand } from '../support/by-hand.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

@Injectable()
class Trouble {
  failing = 0;
  isForbidden = false;
}

@Injectable()
class NotForbidden implements CanActivate {
  constructor(private readonly trouble: Trouble) {}

  canActivate(_: ExecutionContext): boolean {
    if (this.trouble.isForbidden) throw new ForbiddenException();
    return true;
  }
}

@Injectable()
class Invoicing {
  constructor(
    private readonly trouble: Trouble,
    private readonly outbox: OutboxService,
  ) {}

  @OnOutboxEvent('invoicing', OrderPlaced)
  async onPlaced(
    @InboxEvent(OrderPlaced) { orderId }: OrderPlaced,
    @InboxTransaction() manager: EntityManager,
  ): Promise<void> {
    await manager.insert(Shipment, { orderId, consumer: 'invoicing' });
    await this.outbox.emit(Object.assign(new OrderPaid(), { orderId }));
    if (this.trouble.failing > 0) {
      this.trouble.failing -= 1;
      throw new Error('no paper');
    }
  }
}

@Controller()
@UseGuards(NotForbidden)
class Statistics {
  @OnOutboxEvent('statistics', OrderPlaced)
  async onPlaced(
    @InboxEvent(OrderPlaced) { orderId }: OrderPlaced,
    @InboxTransaction() manager: EntityManager,
  ): Promise<void> {
    await manager.insert(Shipment, { orderId, consumer: 'statistics' });
  }

  @OnOutboxEvent('statistics', OrderPaid)
  async onPaid(
    @InboxEvent(OrderPaid) { orderId }: OrderPaid,
    @InboxTransaction() manager: EntityManager,
  ): Promise<void> {
    await manager.insert(Shipment, { orderId, consumer: 'statistics' });
  }
}

const ORDER = { orderId: '0198c0de-0000-7000-8000-000000000001', amountCents: 100 };

describe('InProcessTransport', () => {
  let database: TestDatabase;
  let module: TestingModule;
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    await module?.close();
    await database.drop();
  });

  const start = async (options: Partial<OutboxModuleOptions> = {}, withInbox = true): Promise<void> => {
    module = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot({ type: 'postgres', url: database.url, entities: [Shipment], synchronize: true }),
        ...(withInbox ? [InboxModule.forRoot({ allowUnsigned: true, migrate: 'auto' })] : []),
        OutboxModule.forRoot({
          destinations: {
            invoicing: { transport: new InProcessTransport(), retryBaseMs: 1, retryCapMs: 1, maxAttempts: 3 },
            statistics: { transport: new InProcessTransport() },
          },
          routes: [
            { events: [OrderPlaced], to: ['invoicing', 'statistics'] },
            { events: [OrderPaid], to: ['statistics'] },
          ],
          migrate: 'auto',
          dispatcher: { schedule: false },
          ...options,
        }),
      ],
      controllers: withInbox ? [Statistics] : [],
      providers: withInbox ? [Invoicing, Trouble, NotForbidden] : [],
    }).compile();
    await module.init();
  };
  const emit = (event: object = Object.assign(new OrderPlaced(), ORDER)): Promise<string[]> => {
    const outbox = module.get(OutboxService);
    return outbox.transaction(() => outbox.emit(event));
  };
  /** What a handler emits may come when its destination was drained already. */
  const drainTwice = async (): Promise<number> => {
    const dispatcher = module.get(OutboxDispatcher);
    return (await dispatcher.drain()).delivered + (await dispatcher.drain()).delivered;
  };
  const effects = async (consumer: string): Promise<number> =>
    (await database.query('select 1 from shipments where consumer = $1', [consumer])).length;

  it('each consumer applies an event once, and what its handler emits goes on', async () => {
    await start();
    await emit();
    expect(await drainTwice()).toBe(3);
    expect([await effects('invoicing'), await effects('statistics')]).toEqual([1, 2]);
  });

  it('a handler that fails rolls back its effect and what it emitted, and is tried again; the other is done', async () => {
    await start();
    module.get(Trouble).failing = 1;
    await emit();
    expect(await module.get(OutboxDispatcher).drain()).toMatchObject({ delivered: 1, retried: 1 });
    expect([await effects('invoicing'), await effects('statistics')]).toEqual([0, 1]);
    await expect
      .poll(async () => {
        await module.get(OutboxDispatcher).drain();
        return [await effects('invoicing'), await effects('statistics')];
      })
      .toEqual([1, 2]);
  });

  it('a handler that always fails leaves a dead letter of its consumer, which can be redriven', async () => {
    await start();
    module.get(Trouble).failing = 1000;
    await emit();
    const letters = module.get(DeadLetterService);
    await expect
      .poll(async () => {
        await module.get(OutboxDispatcher).drain();
        return (await letters.list()).map(({ destination, error }) => [destination, error]);
      })
      .toEqual([['invoicing', expect.stringContaining('no paper')]]);
    module.get(Trouble).failing = 0;
    await letters.redrive({ destination: 'invoicing' }, byHand);
    await module.get(OutboxDispatcher).drain();
    expect(await effects('invoicing')).toBe(1);
  });

  it('a redrive of what was processed is told to be a duplicate', async () => {
    await start();
    await emit();
    await drainTwice();
    await database.query(`insert into outbox_delivery (event_id, destination, payload_bytes)
      select id, 'invoicing', 10 from outbox_event where type = 'order.placed'`);
    expect(await module.get(OutboxDispatcher).drain()).toMatchObject({ delivered: 1, duplicates: 1 });
    expect(await effects('invoicing')).toBe(1);
  });

  it('guards of the handler apply', async () => {
    await start();
    module.get(Trouble).isForbidden = true;
    await emit();
    expect((await module.get(OutboxDispatcher).drain()).retried).toBeGreaterThanOrEqual(1);
    expect([await effects('invoicing'), await effects('statistics')]).toEqual([1, 0]);
  });

  it('an event whose fields the handler does not take is a dead letter at once', async () => {
    await start();
    await emit();
    await database.query(`update outbox_event set payload = '{"orderId": 7}'`);
    await module.get(OutboxDispatcher).drain();
    expect((await module.get(BacklogService).read()).reduce((sum, { dead }) => sum + dead, 0)).toBe(2);
  });

  it.each([
    ['no inbox', {}, false, /Import InboxModule/],
    [
      'a routed type that no handler takes',
      { routes: [{ events: [OrderPaid], to: ['invoicing'] }] },
      true,
      /no handler takes "order.paid"/,
    ],
    [
      'a destination without handlers',
      {
        destinations: { accounting: { transport: new InProcessTransport() } },
        routes: [{ events: [OrderPlaced], to: ['accounting'] }],
      },
      true,
      /@OnOutboxEvent\('accounting'/,
    ],
  ] as const)('%s stops the start', async (_, options, withInbox, message) => {
    await expect(start(options as Partial<OutboxModuleOptions>, withInbox)).rejects.toThrow(message);
  });
});
