import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { AggregateId, EmitsEvent, OutboxEvent, OutboxModule } from 'nestjs-transactional-outbox';
import { HttpTransport } from 'nestjs-transactional-outbox/http';
import { Column, Entity, PrimaryColumn, Repository } from 'typeorm';
import { aboutToAnswer } from './crash-point.js';

// Places the order ORDER_ID on DATABASE, as the service of the README does, and says `placed`. Dispatches nothing. Does
// not close: the dispatchers are woken only after that, and whoever started it kills it anyway.

@Entity('orders')
class Order {
  @PrimaryColumn('uuid')
  id: string;

  @Column('int')
  amountCents: number;
}

@OutboxEvent('order.noted', { aggregate: 'order' })
class OrderNoted {
  @AggregateId()
  orderId: string;

  amountCents: number;
}

@Injectable()
class OrdersService {
  constructor(@InjectRepository(Order) private readonly orders: Repository<Order>) {}

  @EmitsEvent(OrderNoted, (order: Order) => ({ orderId: order.id, amountCents: order.amountCents }))
  place(order: Order): Promise<Order> {
    return this.orders.save(order);
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env.DATABASE,
      applicationName: 'doomed',
      entities: [Order],
      retryAttempts: 0,
    }),
    TypeOrmModule.forFeature([Order]),
    OutboxModule.forRoot({
      destinations: { memory: { transport: new HttpTransport({ url: 'http://127.0.0.1:9' }) } },
      routes: [{ events: [OrderNoted], to: ['memory'] }],
      dispatcher: { enabled: false },
    }),
  ],
  providers: [OrdersService],
})
class OrdersModule {}

const app = await NestFactory.createApplicationContext(OrdersModule);
await app.get(OrdersService).place({ id: process.env.ORDER_ID ?? '', amountCents: 100 });
aboutToAnswer();
process.stdout.write('placed\n');
