import { Controller, type INestMicroservice, Injectable } from '@nestjs/common';
import { EventPattern, MessagePattern, type MicroserviceOptions } from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import {
  Inbox,
  InboxEvent,
  type InboxModuleOptions,
  InboxTransaction,
  ParkedMessageService,
} from 'nestjs-transactional-outbox';
import type { EntityManager } from 'typeorm';
import { inboxImports, OrderPlaced, Shipment } from '../integration/inbox-app.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { HttpOnlyFilter } from './http-only-filter.js';

/** Under which the brokers bring the events: their type, or the topic of their aggregate. */
const PATTERNS = ['order.placed', 'outbox.event.order', 'unreadable'];

/** Makes handlers fail as often as a test says. */
@Injectable()
export class Faults {
  /** How often the handler of a consumer fails from now on. */
  readonly left = new Map<string, number>();
  /** How often each was called. */
  readonly calls = new Map<string, number>();

  meet(consumer: string): void {
    this.calls.set(consumer, (this.calls.get(consumer) ?? 0) + 1);
    const left = this.left.get(consumer) ?? 0;
    if (left <= 0) return;
    this.left.set(consumer, left - 1);
    throw new Error('the handler failed');
  }
}

@Controller()
export class ShippingHandlers {
  constructor(private readonly faults: Faults) {}

  @Inbox('shipping')
  @EventPattern<string[]>(PATTERNS)
  async onPlaced(
    @InboxEvent(OrderPlaced) event: OrderPlaced,
    @InboxTransaction() manager: EntityManager,
  ): Promise<void> {
    await manager.insert(Shipment, { orderId: event.orderId, consumer: 'shipping' });
    this.faults.meet('shipping');
  }
}

@Controller()
export class InventoryHandlers {
  constructor(private readonly faults: Faults) {}

  @Inbox('inventory')
  @EventPattern<string[]>(PATTERNS)
  async onPlaced(
    @InboxEvent(OrderPlaced) event: OrderPlaced,
    @InboxTransaction() manager: EntityManager,
  ): Promise<void> {
    await manager.insert(Shipment, { orderId: event.orderId, consumer: 'inventory' });
    this.faults.meet('inventory');
  }
}

@Controller()
export class RequestHandlers {
  constructor(private readonly faults: Faults) {}

  @Inbox('asked', { keepResult: true })
  @MessagePattern('order.asked')
  async onAsked(@InboxTransaction() manager: EntityManager): Promise<{ shipped: boolean }> {
    await manager.insert(Shipment, { orderId: 'asked', consumer: 'asked' });
    this.faults.meet('asked');
    return { shipped: true };
  }
}

export interface InboxMicroservice {
  readonly faults: Faults;
  readonly parked: ParkedMessageService;
  /** Of the application: what its filter for HTTP was given. */
  readonly filtered: readonly string[];
  readonly database: TestDatabase;
  /** Committed effects of each consumer. */
  effects(consumer: string): Promise<number>;
  close(): Promise<void>;
}

/** A real microservice with two consumers of one event, on a database of its own. */
export async function startInboxMicroservice(
  options: MicroserviceOptions,
  inbox: Partial<InboxModuleOptions> = {},
): Promise<InboxMicroservice> {
  const database = await createTestDatabase();
  const limits = { parkAfter: 3, redeliveryBaseMs: 20, redeliveryCapMs: 50, retryAfterSeconds: 1, waitMs: 200 };
  const filter = new HttpOnlyFilter();
  const module = await Test.createTestingModule({
    imports: inboxImports(database, { inbox: { ...limits, ...inbox } }) ?? [],
    controllers: [ShippingHandlers, InventoryHandlers, RequestHandlers],
    providers: [Faults],
  }).compile();
  const service: INestMicroservice = module.createNestMicroservice(options);
  service.useGlobalFilters(filter);
  await service.listen();
  return {
    faults: service.get(Faults),
    parked: service.get(ParkedMessageService),
    filtered: filter.seen,
    database,
    async effects(consumer) {
      const rows = await database.query('select 1 from shipments where consumer = $1', [consumer]);
      return rows.length;
    },
    async close() {
      await service.close();
      await database.drop();
    },
  };
}
