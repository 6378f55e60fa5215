import { Injectable, type ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { getDataSourceToken, getRepositoryToken, InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { IsInt, IsUUID, Min } from 'class-validator';
import {
  AggregateId,
  EmitsEvent,
  type EventClass,
  OutboxDispatcher,
  OutboxEvent,
  OutboxModule,
  type OutboxModuleOptions,
  OutboxService,
  PartitionService,
} from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { Column, DataSource, Entity, PrimaryColumn, Repository } from 'typeorm';
import { createTestDatabase, type TestDatabase } from './database.js';

@Entity('orders')
export class Order {
  @PrimaryColumn('uuid')
  id: string;

  @Column('int')
  amountCents: number;
}

/** An unordered event. */
@OutboxEvent('order.noted', { aggregate: 'order' })
export class OrderNoted {
  @AggregateId()
  @IsUUID()
  orderId: string;

  @IsInt()
  @Min(1)
  amountCents: number;
}

/** An ordered event; a dead letter holds its followers. */
@OutboxEvent('order.step', { aggregate: 'order', ordered: true })
export class OrderStep {
  @AggregateId()
  orderId: string;

  @IsInt()
  step: number;
}

/** An ordered event; a dead letter lets its followers pass. */
@OutboxEvent('order.skippable', { aggregate: 'order', ordered: true, onDead: 'skip' })
export class SkippableStep {
  @AggregateId()
  orderId: string;

  @IsInt()
  step: number;
}

export function noted(orderId: string, amountCents = 100): OrderNoted {
  return Object.assign(new OrderNoted(), { orderId, amountCents });
}

export function step(orderId: string, number: number): OrderStep {
  return Object.assign(new OrderStep(), { orderId, step: number });
}

export function skippable(orderId: string, number: number): SkippableStep {
  return Object.assign(new SkippableStep(), { orderId, step: number });
}

/** The service of the README, as a user would write it. */
@Injectable()
export class OrdersService {
  constructor(@InjectRepository(Order) readonly orders: Repository<Order>) {}

  @EmitsEvent(OrderNoted, (order: Order) => ({ orderId: order.id, amountCents: order.amountCents }))
  place(order: Order): Promise<Order> {
    return this.orders.save(order);
  }
}

/** `OUTBOX_TEST_PARTITIONED=1 npm test`: everything that is true of a log is to be true of a partitioned one. */
const ON_PARTITIONS = process.env.OUTBOX_TEST_PARTITIONED === '1';

export interface OutboxApp {
  readonly module: TestingModule;
  readonly database: TestDatabase;
  readonly dataSource: DataSource;
  readonly outbox: OutboxService;
  readonly dispatcher: OutboxDispatcher;
  readonly orders: Repository<Order>;
  readonly service: OrdersService;
  /** The transport of the destination `memory`. */
  readonly memory: MemoryTransport;
  close(): Promise<void>;
}

export type EntityClass = new () => object;

export interface OutboxAppOptions {
  /** Reuse the database of another application; it is then not dropped by `close()`. */
  readonly database?: TestDatabase;
  readonly memory?: MemoryTransport;
  /** Merged over the defaults: one destination `memory` for all three events, no loop, `migrate: 'auto'`. */
  readonly outbox?: Partial<OutboxModuleOptions>;
  /** Event classes that `memory` receives beside the three. */
  readonly events?: readonly EventClass[];
  readonly poolSize?: number;
  /** Entities beside `Order`. */
  readonly entities?: readonly EntityClass[];
  /** Use this initialized DataSource, and end it with the application, instead of making one. */
  readonly dataSource?: DataSource;
  readonly providers?: ModuleMetadata['providers'];
  readonly imports?: ModuleMetadata['imports'];
}

/** A Nest application with the outbox on a database of its own. Dispatches only when asked to, unless told otherwise. */
export async function startOutboxApp(options: OutboxAppOptions = {}): Promise<OutboxApp> {
  const database = options.database ?? (await createTestDatabase());
  const memory = options.memory ?? new MemoryTransport();
  const given = options.dataSource;
  const module = await Test.createTestingModule({
    imports: [
      TypeOrmModule.forRootAsync({
        useFactory: () => ({
          type: 'postgres',
          url: database.url,
          entities: [Order, ...(options.entities ?? [])],
          synchronize: options.database === undefined,
          poolSize: options.poolSize ?? 10,
          retryAttempts: 0,
        }),
        dataSourceFactory: given && (async () => given),
      }),
      TypeOrmModule.forFeature([Order]),
      OutboxModule.forRoot({
        destinations: { memory: { transport: memory } },
        routes: [{ events: [OrderNoted, OrderStep, SkippableStep, ...(options.events ?? [])], to: ['memory'] }],
        migrate: 'auto',
        ...options.outbox,
        dispatcher: { schedule: false, ...options.outbox?.dispatcher },
      }),
      ...(options.imports ?? []),
    ],
    providers: [OrdersService, ...(options.providers ?? [])],
  }).compile();
  await module.init();
  if (ON_PARTITIONS) await module.get(PartitionService).partition();
  return {
    module,
    database,
    memory,
    dataSource: module.get<DataSource>(getDataSourceToken()),
    outbox: module.get(OutboxService),
    dispatcher: module.get(OutboxDispatcher),
    orders: module.get(getRepositoryToken(Order)),
    service: module.get(OrdersService),
    async close() {
      await module.close();
      if (options.database === undefined) await database.drop();
    },
  };
}
