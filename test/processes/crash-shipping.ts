import { Controller, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Inbox, InboxEnvelope, InboxModule, type ReceivedEvent } from 'nestjs-transactional-outbox';
import { Column, Entity, PrimaryGeneratedColumn, Repository } from 'typeorm';

/** The effect that must happen once; nothing but the inbox keeps a second one away. */
@Entity('shipments')
export class Shipment {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  eventId: string;
}

@Controller()
class ShippingController {
  constructor(@InjectRepository(Shipment) private readonly shipments: Repository<Shipment>) {}

  @Post()
  @Inbox('shipping')
  async ship(@InboxEnvelope() event: ReceivedEvent): Promise<void> {
    await this.shipments.insert({ eventId: event.id });
  }
}

export interface ShippingOptions {
  readonly database: string | undefined;
  readonly applicationName: string;
  /** Make the tables first. */
  readonly makeTables: boolean;
}

/** The receiving application, listening on a free port of 127.0.0.1. */
export async function startShipping(options: ShippingOptions): Promise<NestExpressApplication> {
  const { database: url, applicationName, makeTables } = options;

  @Module({
    imports: [
      TypeOrmModule.forRoot({
        type: 'postgres',
        url,
        applicationName,
        entities: [Shipment],
        synchronize: makeTables,
        retryAttempts: 0,
      }),
      TypeOrmModule.forFeature([Shipment]),
      InboxModule.forRoot({ allowUnsigned: true, migrate: makeTables ? 'auto' : 'verify' }),
    ],
    controllers: [ShippingController],
  })
  class ShippingModule {}

  const app = await NestFactory.create<NestExpressApplication>(ShippingModule, { rawBody: true, logger: ['error'] });
  app.useBodyParser('json', { type: ['application/json', 'application/*+json'] });
  await app.listen(0, '127.0.0.1');
  return app;
}
