import type { DataSource, DataSourceOptions } from 'typeorm';
import { type ResolvedOptions, resolveOptions, resolveSchema, resolveTables } from '../config/index.js';
import { type ResolvedInboxOptions, resolveInboxOptions } from '../inbox/index.js';
import { schemaVerdict } from '../ops/index.js';
import {
  type InboxDatabase,
  inboxDatabaseOf,
  type OutboxNames,
  outboxComponent,
  outboxNames,
  readVersion,
  type SchemaComponent,
} from '../store/index.js';
import { Failure, UsageError } from './cli-error.js';
import { connect } from './configuration/connect.js';
import { loadConfig } from './configuration/load-config.js';
import type { OutboxConfig } from './configuration/outbox-config.js';
import { type OutboxServices, outboxServices } from './services.js';
import type { Terminal } from './terminal.js';

export interface ConnectionOptions {
  readonly config?: string;
  readonly url?: string;
  readonly schema?: string;
}

/** The configuration of one call, and the connection that it opens when it is first needed. */
export class Session {
  private opened: DataSource | undefined;
  private services: OutboxServices | undefined;

  private constructor(
    readonly config: OutboxConfig | undefined,
    private readonly given: ConnectionOptions,
    private readonly terminal: Terminal,
  ) {}

  /** @throws UsageError for a configuration file that is not there or wrong. */
  static async begin(given: ConnectionOptions, terminal: Terminal): Promise<Session> {
    return new Session(await loadConfig(given.config, terminal.workingDirectory), given, terminal);
  }

  /** @throws UsageError when nobody says where the database is. */
  get connectionOptions(): DataSourceOptions {
    const { dataSource } = this.config ?? {};
    const configured = dataSource && ('options' in dataSource ? dataSource.options : dataSource);
    if (this.given.url !== undefined) return { ...(configured as object), type: 'postgres', url: this.given.url };
    if (configured !== undefined) return configured as DataSourceOptions;
    const url = this.terminal.env.DATABASE_URL;
    if (url) return { type: 'postgres', url };
    throw new UsageError(
      'no database. Name a configuration file with --config, or the database with --url or DATABASE_URL.',
    );
  }

  /** @throws Failure when the database does not answer. */
  async dataSource(): Promise<DataSource> {
    this.opened ??= await connect(this.connectionOptions);
    return this.opened;
  }

  /** Undefined without a configuration of the outbox. @throws ConfigurationError when it contradicts itself. */
  get outboxOptions(): ResolvedOptions | undefined {
    const { outbox } = this.config ?? {};
    return outbox && resolveOptions({ ...outbox, ...this.chosenSchema });
  }

  get outboxNames(): OutboxNames {
    const { schema, tables } = this.config?.outbox ?? {};
    return outboxNames(resolveSchema(this.given.schema ?? schema), resolveTables(tables));
  }

  /** Undefined without a configuration of the inbox. @throws ConfigurationError when it contradicts itself. */
  get inboxOptions(): ResolvedInboxOptions | undefined {
    const { inbox } = this.config ?? {};
    return inbox && resolveInboxOptions({ ...inbox, ...this.chosenSchema });
  }

  async inboxDatabase(): Promise<InboxDatabase> {
    const { schema, table } = this.config?.inbox ?? {};
    const place = { schema: this.given.schema ?? schema, table };
    return inboxDatabaseOf(await this.dataSource(), place, { preparesStatements: false });
  }

  /** @throws Failure when the tables are not those of this library. */
  async outbox(): Promise<OutboxServices> {
    if (this.services !== undefined) return this.services;
    if (this.config?.inbox !== undefined && this.config.outbox === undefined) {
      throw new Failure(
        'the configuration has an inbox and no outbox. Look at it with `outbox inbox` and `outbox doctor`.',
      );
    }
    const names = this.outboxNames;
    const dataSource = await this.postgres();
    await requireTables(dataSource, outboxComponent(names));
    this.services = outboxServices(dataSource, names, this.outboxOptions, (text) => this.terminal.say(text));
    return this.services;
  }

  /** @throws Failure when the table is not that of this library. */
  async inbox(): Promise<InboxDatabase> {
    const database = await this.inboxDatabase();
    await requireTables(await this.dataSource(), database.component);
    return database;
  }

  /** The tables of this configuration; without one, those of the outbox. */
  async components(withInbox: boolean): Promise<readonly SchemaComponent[]> {
    const { outbox, inbox } = this.config ?? {};
    const hasOutbox = outbox !== undefined || inbox === undefined;
    return [
      ...(hasOutbox ? [await this.outboxComponent()] : []),
      ...(inbox !== undefined || withInbox ? [(await this.inboxDatabase()).component] : []),
    ];
  }

  private async outboxComponent(): Promise<SchemaComponent> {
    await this.postgres();
    return outboxComponent(this.outboxNames);
  }

  async postgres(): Promise<DataSource> {
    const { type } = this.connectionOptions;
    if (type !== 'postgres') throw new Failure(`the outbox needs PostgreSQL, but the DataSource is "${type}".`);
    return this.dataSource();
  }

  async end(): Promise<void> {
    await this.services?.settle();
    await this.opened?.destroy();
  }

  private get chosenSchema(): { readonly schema?: string } {
    return this.given.schema === undefined ? {} : { schema: this.given.schema };
  }
}

async function requireTables(dataSource: DataSource, component: SchemaComponent): Promise<void> {
  const { status, found, advice } = schemaVerdict(component, await readVersion(dataSource, component));
  if (status === 'problem') throw new Failure(`${found}. ${advice} Name another schema with --schema.`);
}
