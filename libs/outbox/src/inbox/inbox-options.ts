import type { InjectionToken } from '@nestjs/common';
import type { MigrateMode } from '../config/index.js';
import type { CurrentManager, IsolationLevel } from '../transaction/index.js';

/** Deletes records that are older than the dedupe window, by itself; one process at a time. */
export interface InboxRetentionOptions {
  /** Longest wait between two runs, with jitter: each is uniform in 0.75 to 1 of it; 100 to 7 days, default 3,600,000 ms. */
  readonly everyMs?: number;
  /** Rows of each table removed by one transaction; 1 to 100,000, default 1,000. */
  readonly batchSize?: number;
  /** Longest wait for a lock; 1 to 60,000, default 200 ms. SQLite goes by its own busy timeout. */
  readonly lockTimeoutMs?: number;
}

export interface InboxModuleOptions {
  /** Schema of the table; default `public`. */
  readonly schema?: string;
  /** Name of the table; default `processed_events`; at most 48 bytes. */
  readonly table?: string;
  /** Default `verify`. */
  readonly migrate?: MigrateMode;
  /**
   * Standard Webhooks secrets of the senders: 24 to 64 bytes in base64, with or without `whsec_`. A message signed with
   * any of them is taken, so that a secret can be replaced without a gap.
   */
  readonly secret?: string | readonly string[];
  /** Refuse messages without a signature; default true when there is a secret. A signature that is there always counts. */
  readonly requireSignature?: boolean;
  /** Must be true when there is no secret: whoever reaches the endpoint can then state any fact. */
  readonly allowUnsigned?: boolean;
  /** How far the sender's clock may be off, both ways, and how long a captured message can be replayed; default 300. */
  readonly signatureToleranceSeconds?: number;
  /** Largest body; default 1 MiB. The limit of the platform's body parser comes first. */
  readonly maxBodyBytes?: number;
  /** How long a delivery waits for another one of the same event that is being processed; default 5,000 ms. */
  readonly waitMs?: number;
  /**
   * Messages of brokers only: how often a handler may fail with a message until it is parked (ParkedMessageService);
   * 1 to 1,000, default 10. Where the broker does not deliver again, the first failure parks it.
   */
  readonly parkAfter?: number;
  /** Messages of brokers only: first wait until a failed one comes again, in ms, doubled with each failure; default 1,000. */
  readonly redeliveryBaseMs?: number;
  /** Longest such wait in ms; default 60,000. The real wait is a random part of it. */
  readonly redeliveryCapMs?: number;
  /** What a sender is told to wait when an event cannot be processed now (`Retry-After`); default 5. */
  readonly retryAfterSeconds?: number;
  /**
   * How long an event is recognised: `InboxRetentionService` deletes older records. Default 30 days. Must be longer than
   * `longestRedeliveryMs`, or an event that comes late is applied again; refused at start.
   */
  readonly dedupeWindowMs?: number;
  /**
   * The longest time after which a producer or broker may still deliver an event again: retries, deferrals, outages, and
   * dead letters that somebody redrives. Default 14 days.
   */
  readonly longestRedeliveryMs?: number;
  /** Default none: then records stay unless InboxRetentionService is asked to remove them. */
  readonly retention?: InboxRetentionOptions;
  /** Let connections keep the statement that records an event prepared; default true. See the same option of OutboxModule. */
  readonly preparedStatements?: boolean;
  /** Isolation of the transactions that the inbox opens; default the one of the database. */
  readonly isolation?: IsolationLevel;
  /** Where nestjs-cls or typeorm-transactional keep the current EntityManager. */
  readonly currentManager?: CurrentManager;
}

/** What must be known before the options are: see `InboxModule.forRoot` and `forRootAsync`. */
export interface InboxModuleExtras {
  /** Provide everywhere (default), or only to modules that import this one. */
  readonly isGlobal?: boolean;
  /** Token of the DataSource, as `getDataSourceToken(name)` of `@nestjs/typeorm` gives it; default the default one. */
  readonly dataSource?: InjectionToken;
}
