import 'reflect-metadata';
import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventPattern } from '@nestjs/microservices';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  defineOutboxConfig,
  Inbox,
  InboxEnvelope,
  InboxModule,
  InboxTransaction,
  type ReceivedEvent,
} from 'nestjs-transactional-outbox';
import type { DataSourceOptions, EntityManager } from 'typeorm';

// A configuration file of a consumer whose handler writes a row of `effects` unless the event is called `broken`; without APP it cannot be started.

const dataSource: DataSourceOptions = { type: 'postgres', url: process.env.DATABASE_URL ?? '' };
const inbox = { allowUnsigned: true } as const;

@Controller()
class Shipping {
  @Inbox('shipping')
  @EventPattern<string[]>(['order.step'])
  async onStep(@InboxEnvelope() event: ReceivedEvent, @InboxTransaction() manager: EntityManager): Promise<void> {
    if (event.id === 'broken') throw new Error('still broken');
    await manager.query('insert into effects default values');
  }
}

@Module({ imports: [TypeOrmModule.forRoot(dataSource), InboxModule.forRoot(inbox)], controllers: [Shipping] })
class Consumer {}

export default defineOutboxConfig({
  dataSource,
  inbox,
  ...(process.env.APP && { app: () => NestFactory.createApplicationContext(Consumer, { logger: false }) }),
});
