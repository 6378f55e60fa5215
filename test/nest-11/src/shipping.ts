import { type RabbitMQConfig, RabbitMQModule } from '@golevelup/nestjs-rabbitmq';
import type { ModuleMetadata } from '@nestjs/common';
import { IsIn, IsInt, IsOptional, IsUUID } from 'class-validator';
import { AggregateId, InboxModule, type InboxModuleOptions, OutboxEvent } from 'nestjs-transactional-outbox';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';

@OutboxEvent('order.placed', { aggregate: 'order' })
export class OrderPlaced {
  @AggregateId()
  @IsUUID()
  orderId: string;

  /** How often the handler fails before it does not. */
  @IsOptional()
  @IsInt()
  failures?: number;

  /** With what the handler ends, once it does not fail. */
  @IsOptional()
  @IsIn(['reject', 'requeue'])
  nack?: 'reject' | 'requeue';

  /** An advisory lock that the handler waits for after its effect. */
  @IsOptional()
  @IsInt()
  lock?: number;
}

/** The effect that must happen once. */
@Entity('shipments')
export class Shipment {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  orderId: string;
}

/** What a consumer on this stack imports. */
export function shippingImports(
  inbox: Partial<InboxModuleOptions> = {},
  rabbitmq: Partial<RabbitMQConfig> = {},
): NonNullable<ModuleMetadata['imports']> {
  return [
    {
      module: class Database {},
      global: true,
      providers: [{ provide: DataSource, useFactory: connectDatabase }],
      exports: [DataSource],
    },
    InboxModule.forRoot({ allowUnsigned: true, migrate: 'auto', ...inbox }),
    RabbitMQModule.forRoot({ uri: process.env.RABBITMQ ?? '', ...rabbitmq }),
  ];
}

function connectDatabase(): Promise<DataSource> {
  const { DATABASE } = process.env;
  return new DataSource({ type: 'postgres', url: DATABASE, entities: [Shipment], synchronize: true }).initialize();
}
