import type { DataSource } from 'typeorm';
import { DataSourceClient } from './data-source-client.js';
import { detectPooler, type PostgresConnection } from './detect-pooler.js';
import { type LogLayout, readLogLayout } from './partitions/log-layout.js';
import { isEmptySql } from './sql/convert-log.sql.js';
import { queuedDestinationsSql } from './sql/queued-destinations.sql.js';
import { readAgesSql } from './sql/read-ages.sql.js';
import { readClockSql } from './sql/read-clock.sql.js';
import { readConnectionsSql } from './sql/read-connections.sql.js';
import { readDurabilitySql } from './sql/read-durability.sql.js';
import { readIndexesSql } from './sql/read-indexes.sql.js';
import { readVacuumSql } from './sql/read-vacuum.sql.js';
import type { OutboxNames } from './table-names.js';

export interface IndexState {
  readonly name: string;
  readonly isPresent: boolean;
  readonly isUsable: boolean;
}

interface LendingPool {
  connect(): Promise<PostgresConnection & { release(): void }>;
}

/** What PostgreSQL says of itself and of the tables. Reads only, and writes down nothing. */
export class DatabaseInspection {
  private readonly client: DataSourceClient;

  constructor(private readonly dataSource: DataSource) {
    this.client = new DataSourceClient(dataSource);
  }

  async clock(): Promise<Date> {
    return (await this.one<{ now: Date }>(readClockSql())).now;
  }

  /** `used` counts those of all databases. */
  connections(): Promise<{ readonly allowed: number; readonly used: number; readonly listening: number }> {
    return this.one(readConnectionsSql());
  }

  async durability(): Promise<Readonly<Record<string, string>>> {
    return this.one(readDurabilitySql());
  }

  /** @param names quoted and qualified. */
  async indexes(names: readonly string[]): Promise<readonly IndexState[]> {
    const rows = await this.all<{ name: string; is_present: boolean; is_usable: boolean }>(readIndexesSql(), [names]);
    return rows.map((row) => ({ name: row.name, isPresent: row.is_present, isUsable: row.is_usable }));
  }

  logLayout(names: OutboxNames): Promise<LogLayout> {
    return readLogLayout(this.client, names);
  }

  /** @param partition unquoted name of a partition of the log. */
  async isEmpty(names: OutboxNames, partition: string): Promise<boolean> {
    return (await this.one<{ is_empty: boolean }>(isEmptySql(names, names.table(partition)))).is_empty;
  }

  async vacuum(names: OutboxNames): Promise<{
    readonly isOn: boolean;
    readonly deadRows: number;
    readonly liveRows: number;
    /** 0 without one. */
    readonly oldestTransactionMs: number;
  }> {
    const row = await this.one<Record<string, unknown>>(readVacuumSql(names));
    return {
      isOn: row.is_on === true && row.is_off_for_queue === false,
      deadRows: Number(row.dead_rows),
      liveRows: Number(row.live_rows),
      oldestTransactionMs: Number(row.oldest_transaction_ms ?? 0),
    };
  }

  /** Ages in ms; undefined without one. */
  async ages(
    names: OutboxNames,
  ): Promise<{ readonly oldestEventMs: number | undefined; readonly oldestDeadMs: number | undefined }> {
    const row = await this.one<{ oldest_event_ms: number | null; oldest_dead_ms: number | null }>(readAgesSql(names));
    return { oldestEventMs: row.oldest_event_ms ?? undefined, oldestDeadMs: row.oldest_dead_ms ?? undefined };
  }

  /** Destinations for which something waits or is dead. */
  async queuedDestinations(names: OutboxNames): Promise<readonly string[]> {
    const rows = await this.all<{ destination: string }>(queuedDestinationsSql(names));
    return rows.map(({ destination }) => destination);
  }

  /** Whether a pooler answers in the place of PostgreSQL. */
  async isPooled(): Promise<boolean> {
    const { master } = this.dataSource.driver as unknown as { master: LendingPool };
    const connection = await master.connect();
    try {
      return await detectPooler(connection);
    } finally {
      connection.release();
    }
  }

  private async one<Row>(text: string): Promise<Row> {
    const [row] = await this.all<Row>(text);
    if (row === undefined) throw new Error('the tables are not there');
    return row;
  }

  private async all<Row>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    const { rows } = await this.client.query(text, values);
    // The columns are those of the statement; a test prepares it against the migrated schema.
    return rows as unknown as readonly Row[];
  }
}
