import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AggregateId, OutboxEvent, OutboxModule, OutboxService } from 'nestjs-transactional-outbox';
import { HttpTransport } from 'nestjs-transactional-outbox/http';

// Emits EVENTS events in one transaction on DATABASE, with a dispatcher of its own running, and is killed by itself as
// soon as the COMMIT is answered, or, with WHEN=before, in the transaction.

@OutboxEvent('order.noted', { aggregate: 'order' })
class OrderNoted {
  @AggregateId()
  orderId: string;

  constructor(orderId: string) {
    this.orderId = orderId;
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'postgres', url: process.env.DATABASE, retryAttempts: 0 }),
    OutboxModule.forRoot({
      destinations: { memory: { transport: new HttpTransport({ url: process.env.RECEIVER ?? '' }) } },
      routes: [{ events: [OrderNoted], to: ['memory'] }],
    }),
  ],
})
class CommitAndDieModule {}

const die = (): void => void process.kill(process.pid, 'SIGKILL');

const app = await NestFactory.createApplicationContext(CommitAndDieModule);
const outbox = app.get(OutboxService);
await outbox.transaction(async () => {
  const ids = await outbox.emit(Array.from({ length: Number(process.env.EVENTS) }, (_, n) => new OrderNoted(`o${n}`)));
  process.stdout.write(`emitted ${ids.join(' ')}\n`);
  if (process.env.WHEN === 'before') die();
});
die();
