import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { Body, Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Inbox, InboxEvent, InboxModule, InboxService, InboxTransaction } from 'nestjs-transactional-outbox';
import { DataSource, type EntityManager } from 'typeorm';
import type { BenchDatabase } from '../measure/bench-server.js';
import { BenchNoted, FILLER } from './bench-events.js';
import { BenchOrderEntity, insertOrder } from './business.js';

/** The same effect behind two routes: once guarded by the inbox, once as a handler that trusts to get each message once. */
@Controller()
class ConsumerController {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  @Post('guarded')
  @HttpCode(200)
  @Inbox('bench')
  async onNoted(@InboxEvent(BenchNoted) event: BenchNoted, @InboxTransaction() manager: EntityManager): Promise<void> {
    await insertOrder(manager, event.number);
  }

  @Post('bare')
  @HttpCode(200)
  async bare(@Body() { data }: { data: BenchNoted }): Promise<void> {
    await this.dataSource.transaction((manager) => insertOrder(manager, data.number));
  }
}

export interface Consumer {
  readonly app: NestExpressApplication;
  readonly dataSource: DataSource;
  readonly inbox: InboxService;
  readonly url: string;
}

/** A Nest application that receives events over HTTP, with an inbox. */
export async function startConsumer(database: BenchDatabase, poolSize: number): Promise<Consumer> {
  const module = {
    module: class ConsumerModule {},
    imports: [
      TypeOrmModule.forRoot({
        type: 'postgres',
        url: database.url,
        entities: [BenchOrderEntity],
        synchronize: true,
        poolSize,
      }),
      InboxModule.forRoot({ allowUnsigned: true, migrate: 'auto' }),
    ],
    controllers: [ConsumerController],
  };
  const app = await NestFactory.create<NestExpressApplication>(module, { logger: ['error', 'warn'], rawBody: true });
  app.useBodyParser('json', { type: 'application/*+json' });
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  return { app, dataSource: app.get(DataSource), inbox: app.get(InboxService), url: `http://127.0.0.1:${port}` };
}

/** One event as the HTTP transport sends it, without its signature. */
export function cloudEvent(id: string, number: number): string {
  return JSON.stringify({
    specversion: '1.0',
    id,
    source: '/bench',
    type: 'bench.noted',
    datacontenttype: 'application/json',
    data: { benchId: id, number, filler: FILLER },
  });
}
