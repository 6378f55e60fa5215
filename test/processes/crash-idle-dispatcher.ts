import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OutboxModule } from 'nestjs-transactional-outbox';
import { HttpTransport } from 'nestjs-transactional-outbox/http';

// Dispatches what the queue of DATABASE holds for the destination `memory` to RECEIVER, and asks for it only when it is
// woken: a dispatcher between two polls. Says `ready`.

const HOUR_MS = 3_600_000;

process.on('uncaughtExceptionMonitor', (error, origin) => process.stdout.write(`${origin} ${String(error)}\n`));

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env.DATABASE,
      retryAttempts: 0,
      applicationName: 'dispatcher',
    }),
    OutboxModule.forRoot({
      destinations: { memory: { transport: new HttpTransport({ url: process.env.RECEIVER ?? '' }) } },
      routes: [{ events: ['order.noted'], to: ['memory'] }],
      dispatcher: { pollIntervalMs: HOUR_MS },
    }),
  ],
})
class IdleDispatcherModule {}

const app = await NestFactory.createApplicationContext(IdleDispatcherModule);
app.enableShutdownHooks();
process.stdout.write('ready\n');
