import { IsString } from 'class-validator';
import { IsDatabaseUrl, IsMigrationMode, IsPortNumber, type MigrationMode } from 'sample-support';

/** The configuration, one property for each variable of the environment. */
export class Environment {
  @IsDatabaseUrl('shipping')
  DATABASE_URL: string;

  @IsPortNumber()
  PORT: number = 3001;

  /** Events must be signed with it. */
  @IsString({ message: 'WEBHOOK_SECRET must be set in production: it is the one that the sender signs with.' })
  WEBHOOK_SECRET: string;

  @IsMigrationMode()
  MIGRATIONS: MigrationMode = 'run';
}
