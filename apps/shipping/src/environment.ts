import { IsString } from 'class-validator';
import {
  IsBrokerUrl,
  IsDatabaseUrl,
  IsMigrationMode,
  IsPlacePrefix,
  IsPortNumber,
  IsTransport,
  type MigrationMode,
} from 'sample-support';
import { BROKERS, type Broker } from './servers/broker.js';

/** The configuration, one property for each variable of the environment. */
export class Environment {
  @IsDatabaseUrl('shipping')
  DATABASE_URL: string;

  @IsPortNumber()
  PORT: number = 3001;

  /** How events come; each broker has a file in `servers/`. In process they come only inside of another application. */
  @IsTransport(['http', ...BROKERS])
  TRANSPORT: 'http' | Broker = 'http';

  /** Where the broker is; empty for its usual port on this machine. */
  @IsBrokerUrl()
  BROKER_URL: string = '';

  /** In a broker, what is for the consumer `shipping` comes from the place `<prefix>-shipping`, and so on. */
  @IsPlacePrefix()
  PLACE_PREFIX: string = 'orders';

  /** Events that come over HTTP must be signed with it. */
  @IsString({ message: 'WEBHOOK_SECRET must be set in production: it is the one that the sender signs with.' })
  WEBHOOK_SECRET: string;

  @IsMigrationMode()
  MIGRATIONS: MigrationMode = 'run';
}
