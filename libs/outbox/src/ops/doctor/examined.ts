import type { ResolvedOptions } from '../../config/index.js';
import type {
  DatabaseInspection,
  DestinationStore,
  FailedMessageStore,
  OutboxNames,
  SchemaComponent,
  SchemaVersion,
} from '../../store/index.js';

/** The configuration, as far as it is known, and the live database. */
export interface Examined {
  readonly database: DatabaseInspection;
  readonly outbox?: ExaminedOutbox;
  readonly inbox?: ExaminedInbox;
  /** Most connections of the application's own pool. */
  readonly applicationPoolSize: number;
  versionOf(component: SchemaComponent): Promise<SchemaVersion>;
}

export interface ExaminedOutbox {
  readonly names: OutboxNames;
  readonly component: SchemaComponent;
  readonly destinations: DestinationStore;
  /** Undefined when only the database is known. */
  readonly options?: ResolvedOptions;
  /** Age in ms from which delivered events are removed; undefined when that is not known. */
  readonly retainForMs?: number | undefined;
}

export interface ExaminedInbox {
  readonly component: SchemaComponent;
  /** Quoted and qualified. */
  readonly indexes: readonly string[];
  readonly failed: FailedMessageStore;
  readonly dedupeWindowMs: number;
  readonly longestRedeliveryMs: number;
}
