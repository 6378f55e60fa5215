import { listOperationsSql } from './sql/operations.sql.js';
import type { SqlClient } from './sql-client.js';
import type { OutboxNames } from './table-names.js';

/** A change by hand. */
export interface Operation {
  readonly id: number;
  readonly at: Date;
  readonly by: string;
  readonly action: 'redrive' | 'discard' | 'release' | 'replay' | 'pause' | 'resume';
  readonly reason: string;
  /** What was asked for: the filter, or the destination. */
  readonly details: Readonly<Record<string, unknown>>;
  /** How many deliveries, or destinations, it changed. */
  readonly affected: number;
}

/** The record of changes by hand; each is written together with its change. */
export interface OperationStore {
  /** Newest first. */
  list(limit: number): Promise<readonly Operation[]>;
}

interface OperationRow extends Omit<Operation, 'by'> {
  readonly actor: string;
}

export class PostgresOperationStore implements OperationStore {
  constructor(
    private readonly client: SqlClient,
    private readonly names: OutboxNames,
  ) {}

  async list(limit: number): Promise<readonly Operation[]> {
    const { rows } = await this.client.query(listOperationsSql(this.names), [limit]);
    // The columns are those of the statement; a test prepares it against the migrated schema.
    return (rows as unknown as readonly OperationRow[]).map(({ actor, ...operation }) => ({ ...operation, by: actor }));
  }
}
