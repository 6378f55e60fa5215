import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OutboxModule } from 'nestjs-transactional-outbox';
import { HttpTransport } from 'nestjs-transactional-outbox/http';
import { OrderCancelled, OrderPaid, OrderPlaced } from 'order-events';
import { DeadlyTransport } from './deadly-transport.js';

// Program: a dispatcher of the orders application for the destination `shipping` alone, which dies at the worst moment.

const { DATABASE_URL, SHIPPING_URL = '', WEBHOOK_SECRET = '', DIES_AFTER } = process.env;

const receiver = new HttpTransport({ url: SHIPPING_URL, secret: WEBHOOK_SECRET, source: '/orders' });

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'postgres', url: DATABASE_URL, applicationName: 'doomed', retryAttempts: 1 }),
    OutboxModule.forRoot({
      destinations: {
        shipping: {
          transport: new DeadlyTransport(receiver, Number(DIES_AFTER)),
          // Its successor has to wait for the lease to end; the default of 30 s is a long time to watch.
          leaseMs: 4000,
          publishTimeoutMs: 3500,
          // Orders share no lane, so this many are taken at once, and all those that are let through are on their way.
          batchesInFlight: 16,
        },
      },
      routes: [{ events: [OrderPlaced, OrderPaid, OrderCancelled], to: ['shipping'] }],
    }),
  ],
})
class DoomedDispatcherModule {}

await NestFactory.createApplicationContext(DoomedDispatcherModule);
