import { IsIn, IsOptional, IsString, Matches, MinLength } from 'class-validator';
import {
  IsBrokerUrl,
  IsDatabaseUrl,
  IsMigrationMode,
  IsPlacePrefix,
  IsPortNumber,
  IsTransport,
  type MigrationMode,
  type TransportName,
} from 'sample-support';

/** What one process does: answers HTTP, dispatches events, or both. */
export type Role = 'api' | 'dispatcher' | 'both';

/** The configuration, one property for each variable of the environment. */
export class Environment {
  @IsDatabaseUrl('orders')
  DATABASE_URL: string;

  @IsIn(['api', 'dispatcher', 'both'], { message: 'ROLE must be api, dispatcher or both.' })
  ROLE: Role = 'both';

  @IsPortNumber()
  PORT: number = 3000;

  /** How events reach their destinations; each has a file in `transports/`. */
  @IsTransport()
  TRANSPORT: TransportName = 'http';

  /** Where the broker is; empty for its usual port on this machine. */
  @IsBrokerUrl()
  BROKER_URL: string = '';

  /** In a broker, the destination `shipping` is the place `<prefix>-shipping`, and so on. */
  @IsPlacePrefix()
  PLACE_PREFIX: string = 'orders';

  /** Kafka only: `off` where the cluster, or the account, does not admit idempotent producers. */
  @IsIn(['on', 'off'], { message: 'KAFKA_IDEMPOTENCE must be on or off.' })
  KAFKA_IDEMPOTENCE: 'on' | 'off' = 'on';

  /** HTTP only: where the destination `shipping` is. */
  @Matches(/^https?:\/\/./, { message: 'SHIPPING_URL must be an http or https URL.' })
  SHIPPING_URL: string = 'http://127.0.0.1:3001/events/shipping';

  /** HTTP only: where the destination `inventory` is. */
  @Matches(/^https?:\/\/./, { message: 'INVENTORY_URL must be an http or https URL.' })
  INVENTORY_URL: string = 'http://127.0.0.1:3001/events/inventory';

  /** Signs the events that go over HTTP; the receivers need the same one. */
  @IsString({ message: 'WEBHOOK_SECRET must be set in production: generate one with `openssl rand -base64 32`.' })
  WEBHOOK_SECRET: string;

  /** Opens the outbox dashboard to whoever gives it as the password. */
  @IsOptional()
  @MinLength(12, { message: 'DASHBOARD_TOKEN must have 12 characters or more.' })
  DASHBOARD_TOKEN?: string = undefined;

  @IsMigrationMode()
  MIGRATIONS: MigrationMode = 'run';
}
