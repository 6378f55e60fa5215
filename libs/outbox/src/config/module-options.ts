import type { InjectionToken } from '@nestjs/common';
import type { EntityTarget, ObjectLiteral } from 'typeorm';
import type { EventClass } from '../event/index.js';
import type { CurrentManager } from '../transaction/index.js';
import type { Transport } from '../transports/index.js';

/** What happens to a delivery row when its event was delivered. The event itself stays in the log until retention. */
export type Completion = 'delete' | 'keep' | 'archive';

/** `verify` refuses to start on another schema version, `auto` brings it up to date, `off` does not look. */
export type MigrateMode = 'verify' | 'auto' | 'off';

/** `warn` logs what is wrong, `refuse` does not start with a problem, `off` does not look. */
export type StartUpChecks = 'warn' | 'refuse' | 'off';

/** Names of the tables, unquoted; any text that PostgreSQL takes as an identifier (63 bytes). */
export interface OutboxTableOptions {
  /** Default `outbox_event`. */
  readonly event?: string;
  /** Default `outbox_delivery`. */
  readonly delivery?: string;
  /** Default `outbox_lane`. */
  readonly lane?: string;
  /** Default `outbox_aggregate`. */
  readonly aggregate?: string;
  /** Default `outbox_destination`. */
  readonly destination?: string;
}

/** One named place that events must reach, with its own delivery state and its own pace. */
export interface DestinationOptions {
  readonly transport: Transport;
  /** Most events taken by one claim, of ordered and of unordered ones each; 1 to 1,000, default 100. */
  readonly batchSize?: number;
  /** Most payload bytes taken by one claim, of ordered and of unordered events each (one always is); default 16 MiB. */
  readonly batchBytes?: number;
  /** Batches being published at once; 1 to 16, default 2. */
  readonly batchesInFlight?: number;
  /** Publishes at once within a batch, for transports that take one event at a time; 1 to 256, default 16. */
  readonly concurrency?: number;
  /** How long a claim is valid unless renewed; default 30,000 ms. Renewed every third of it while a publish runs. */
  readonly leaseMs?: number;
  /** Time for one call of the transport; default 10,000 ms; must be shorter than `leaseMs`. */
  readonly publishTimeoutMs?: number;
  /** Attempts until a dead letter, counted at the claim; default 12. */
  readonly maxAttempts?: number;
  /** Full jitter: the wait before attempt n+1 is uniform in 0 to min(cap, base × 2^n); default 1,000 ms. */
  readonly retryBaseMs?: number;
  /** Default 300,000 ms. */
  readonly retryCapMs?: number;
  /** A deferred event older than this becomes a dead letter; default 7 days. An unreachable destination has no limit. */
  readonly maxDeferAgeMs?: number;
  /**
   * First pause of the destination, for all dispatchers, when it cannot be reached; doubled up to `pauseCapMs`, with
   * jitter; default 1,000 ms.
   */
  readonly pauseBaseMs?: number;
  /** Default 30,000 ms. */
  readonly pauseCapMs?: number;
}

/** Which events go where. An event type may be named by several routes; its destinations are joined. */
export interface RouteOptions {
  /** Event classes, or types as text. */
  readonly events: readonly (EventClass | string)[];
  /** Names of destinations. An empty list keeps the event in the log only, for CDC or replay. */
  readonly to: readonly string[];
}

export interface DispatcherOptions {
  /** False in processes that only emit; default true. */
  readonly enabled?: boolean;
  /**
   * `loop` (default): drains while there is work, then waits for a wake-up or the poll interval. A cron expression:
   * drains at those times (needs `@nestjs/schedule`). False: only `dispatchOnce()` and `drain()`.
   */
  readonly schedule?: 'loop' | false | (string & {});
  /**
   * Wake-ups between processes by LISTEN and NOTIFY; default true. A process with a running loop listens, on one more
   * connection; a process without one notifies after its commits. Switch it off behind PgBouncer in transaction mode,
   * where LISTEN does not work (a warning says so when it is on); polling goes on in any case.
   */
  readonly wakeUp?: boolean;
  /**
   * Longest wait between two looks at the queue, with jitter: each wait is uniform in 0.75 to 1 of it; 10 to 3,600,000.
   * Default 5,000 ms while wake-ups arrive, where polling is for safety only; 1,000 ms with `wakeUp: false` and while
   * the listening connection is down. A number given here holds in each of these.
   */
  readonly pollIntervalMs?: number;
  /** Connections of the dispatcher's own pool; default 3. They come on top of the application's pool. */
  readonly poolSize?: number;
  /** Time to finish what is being published at shutdown; default 10,000 ms. */
  readonly shutdownGraceMs?: number;
  /** Written into `lease_owner` for people; default host name and process id. */
  readonly instanceName?: string;
}

/** Keeps the tables small, by itself, in processes in which the dispatcher is enabled; one of them at a time. */
export interface OutboxRetentionOptions {
  /**
   * Age, in ms by the database's clock, from which events that were delivered everywhere go; 1,000 to ten years. Cover
   * your longest look back and replay. What is undelivered or a dead letter stays, however old.
   */
  readonly deliveredForMs: number;
  /** Longest wait between two runs, with jitter: each is uniform in 0.75 to 1 of it; 100 to 7 days, default 3,600,000 ms. */
  readonly everyMs?: number;
  /** Rows removed by one transaction; 1 to 100,000, default 1,000. */
  readonly batchSize?: number;
  /** Longest wait for a lock, and so the longest that others wait behind it; 1 to 60,000, default 200 ms. */
  readonly lockTimeoutMs?: number;
  /** Where the log is partitioned: days after today that have a partition of their own; 1 to 60, default 7. */
  readonly aheadDays?: number;
}

export interface OutboxModuleOptions {
  readonly destinations: Readonly<Record<string, DestinationOptions>>;
  readonly routes: readonly RouteOptions[];
  /** Schema of the tables; default `public`. */
  readonly schema?: string;
  readonly tables?: OutboxTableOptions;
  /** Default `verify`. */
  readonly migrate?: MigrateMode;
  /**
   * At start, a look at the live database by those checks of `outbox doctor` that take a millisecond each: leases, indexes,
   * partitions, connections, clocks, vacuum, orphans. Default `warn`.
   */
  readonly startUpChecks?: StartUpChecks;
  /** Default `delete`. */
  readonly completion?: Completion;
  /** Largest payload as JSON text in UTF-8; default 1 MiB. */
  readonly maxPayloadBytes?: number;
  /**
   * Let the application's connections keep the statement of `emit()` prepared, which halves its cost, and the
   * dispatcher's those of its own; default true. Where a pooler (PgBouncer) stands in between, it is noticed and nothing is prepared. Say false for a pooler that
   * passes the process numbers of PostgreSQL on and still changes the session between transactions.
   */
  readonly preparedStatements?: boolean;
  readonly dispatcher?: DispatcherOptions;
  /** Default none: then nothing is removed unless RetentionService is asked to. */
  readonly retention?: OutboxRetentionOptions;
  /** Where nestjs-cls or typeorm-transactional keep the current EntityManager. */
  readonly currentManager?: CurrentManager;
  /**
   * For development: entities whose changes should come with an event. A transaction that changes their rows through
   * TypeORM and commits without emitting is logged as a warning, `rows changed without an event`. Default none.
   */
  readonly expectEventsFor?: readonly EntityTarget<ObjectLiteral>[];
}

/** What must be known before the options are: see `OutboxModule.forRoot` and `forRootAsync`. */
export interface OutboxModuleExtras {
  /** Provide everywhere (default), or only to modules that import this one. */
  readonly isGlobal?: boolean;
  /** Token of the DataSource, as `getDataSourceToken(name)` of `@nestjs/typeorm` gives it; default the default one. */
  readonly dataSource?: InjectionToken;
}
