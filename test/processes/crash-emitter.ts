import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AggregateId, OutboxEvent, OutboxModule, OutboxService } from 'nestjs-transactional-outbox';
import { HttpTransport } from 'nestjs-transactional-outbox/http';

// Emits two ordered events about AGGREGATE on DATABASE in one transaction, says `emitted <ids>`, and ends.

@OutboxEvent('order.step', { aggregate: 'order', ordered: true })
class OrderStep {
  @AggregateId()
  orderId = process.env.AGGREGATE;
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'postgres', url: process.env.DATABASE, retryAttempts: 0 }),
    OutboxModule.forRoot({
      destinations: { memory: { transport: new HttpTransport({ url: 'http://127.0.0.1:9' }) } },
      routes: [{ events: [OrderStep], to: ['memory'] }],
      dispatcher: { enabled: false },
    }),
  ],
})
class EmitterModule {}

const app = await NestFactory.createApplicationContext(EmitterModule);
const outbox = app.get(OutboxService);
const ids = await outbox.transaction(() => outbox.emit([new OrderStep(), new OrderStep()]));
process.stdout.write(`emitted ${ids.join(' ')}\n`);
await app.close();
