import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AggregateId, OutboxEvent, OutboxModule, OutboxService } from 'nestjs-transactional-outbox';
import { HttpTransport } from 'nestjs-transactional-outbox/http';
import { die, readPath } from './dual-write-path.js';

// Places ORDER_ID on DATABASE and states the event in the same transaction, and goes wrong where DUAL_WRITE_PATH says.
// Sending is the work of a dispatcher in another process: "after send" is after the event was stated.

const path = readPath(process.env.DUAL_WRITE_PATH);
const { DATABASE, RECEIVER = '', ORDER_ID = '' } = process.env;

@OutboxEvent('order.noted', { aggregate: 'order' })
class OrderNoted {
  @AggregateId()
  orderId = ORDER_ID;
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'postgres', url: DATABASE, retryAttempts: 0 }),
    OutboxModule.forRoot({
      destinations: { memory: { transport: new HttpTransport({ url: RECEIVER }) } },
      routes: [{ events: [OrderNoted], to: ['memory'] }],
      dispatcher: { enabled: false },
    }),
  ],
})
class DualWriteModule {}

const app = await NestFactory.createApplicationContext(DualWriteModule);
const outbox = app.get(OutboxService);
try {
  await outbox.transaction(async (manager) => {
    await manager.query('insert into orders (id) values ($1)', [ORDER_ID]);
    await outbox.emit(new OrderNoted());
    if (path === 'crash-after-send') await die();
    if (path === 'rollback-after-send') throw new Error('changed my mind');
  });
} catch (error) {
  if (path !== 'rollback-after-send') throw error;
}
if (path === 'crash-after-commit') await die();
await app.close();
