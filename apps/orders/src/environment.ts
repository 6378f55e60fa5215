import { IsIn, IsOptional, IsString, Matches, MinLength } from 'class-validator';
import { IsDatabaseUrl, IsMigrationMode, IsPortNumber, type MigrationMode } from 'sample-support';

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

  /** Where the destination `shipping` is. */
  @Matches(/^https?:\/\/./, { message: 'SHIPPING_URL must be an http or https URL.' })
  SHIPPING_URL: string = 'http://127.0.0.1:3001/events/shipping';

  /** Where the destination `inventory` is. */
  @Matches(/^https?:\/\/./, { message: 'INVENTORY_URL must be an http or https URL.' })
  INVENTORY_URL: string = 'http://127.0.0.1:3001/events/inventory';

  /** Signs the events; the receivers need the same one. */
  @IsString({ message: 'WEBHOOK_SECRET must be set in production: generate one with `openssl rand -base64 32`.' })
  WEBHOOK_SECRET: string;

  /** Opens the outbox dashboard to whoever gives it as the password. */
  @IsOptional()
  @MinLength(12, { message: 'DASHBOARD_TOKEN must have 12 characters or more.' })
  DASHBOARD_TOKEN?: string = undefined;

  @IsMigrationMode()
  MIGRATIONS: MigrationMode = 'run';
}
