import 'reflect-metadata';
import { createRequire } from 'node:module';
import { Nack, RabbitRequest, RabbitSubscribe } from '@golevelup/nestjs-rabbitmq';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Inbox, InboxEvent, InboxTransaction, ParkedMessageService } from 'nestjs-transactional-outbox';
import type { EntityManager } from 'typeorm';
import { OrderPlaced, Shipment, shippingImports } from './shipping.js';

// A consumer of the queue QUEUE, with the inbox options of INBOX. Says `called <order id>` whenever its handler is, and what
// became of parked messages when it gets SIGUSR2.

const print = (line: string): void => void process.stdout.write(`${line}\n`);

@Injectable()
class ShippingHandlers {
  private readonly calls = new Map<string, number>();

  @RabbitSubscribe({ queue: process.env.QUEUE, createQueueIfNotExists: false, allowNonJsonMessages: true })
  @Inbox('shipping')
  async onOrderPlaced(
    @InboxEvent(OrderPlaced) event: OrderPlaced,
    @InboxTransaction() manager: EntityManager,
    @RabbitRequest() message: { fields?: { redelivered: boolean } },
  ): Promise<Nack | undefined> {
    const { orderId, failures = 0, nack, lock } = event;
    const calls = (this.calls.get(orderId) ?? 0) + 1;
    this.calls.set(orderId, calls);
    print(`called ${orderId}${message.fields?.redelivered ? ' again' : ''}`);
    await manager.insert(Shipment, { orderId });
    if (lock !== undefined) await manager.query('select pg_advisory_xact_lock($1)', [lock]);
    if (calls <= failures) throw new Error('the handler failed');
    return nack && new Nack(nack === 'requeue');
  }
}

@Module({ imports: shippingImports(JSON.parse(process.env.INBOX ?? '{}')), providers: [ShippingHandlers] })
class Consumer {}

const app = await NestFactory.createApplicationContext(Consumer, { logger: ['error', 'warn'] });
app.enableShutdownHooks(['SIGTERM']); // by default Nest stops on SIGUSR2, too
process.on('SIGUSR2', async () => print(`redriven ${JSON.stringify(await app.get(ParkedMessageService).redrive())}`));
process.on('exit', () => print('stopped'));
const library = createRequire(import.meta.resolve('nestjs-transactional-outbox'));
print(`consumes with ${library.resolve('@nestjs/core')} and ${library.resolve('typeorm')}`);
