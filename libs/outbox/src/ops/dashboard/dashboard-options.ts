import type { CanActivate, InjectionToken, ModuleMetadata, Type } from '@nestjs/common';

export interface OutboxDashboardOptions {
  /** Where the page is, below the application's global prefix: `outbox`, or `internal/outbox`. */
  readonly path: string;
  /**
   * Who may see and act: classes (what they inject comes from `imports`) or instances, as for `@UseGuards()`. Required
   * unless NODE_ENV is `development` or `test`: whoever passes can read payloads, send events again and drop them.
   */
  readonly guards?: readonly (Type<CanActivate> | CanActivate)[];
  /**
   * The name that is written down with every change, from the request that the guards let through. Without it the page asks,
   * and the record shows what the person says.
   */
  readonly operator?: (request: unknown) => string;
  /** Modules with what the guards inject, and the OutboxModule where that is not global. */
  readonly imports?: ModuleMetadata['imports'];
  /** DataSource of the outbox; default the default one. */
  readonly dataSource?: InjectionToken;
  /** DataSource of the inbox, if there is one; default that of the outbox. */
  readonly inboxDataSource?: InjectionToken;
  /**
   * Origins (`https://admin.example.com`) from which changes are taken beside the one of the Host header: for a proxy that
   * replaces Host and a browser that does not send Sec-Fetch-Site (one on plain http).
   */
  readonly allowedOrigins?: readonly string[];
  /** Pause between two samples of flow and age, in ms; 100 to 60,000, default 5,000. The last hour is kept in memory. */
  readonly sampleEveryMs?: number;
  /** A destination lags when its oldest undelivered event is older, in ms; 1,000 to a day, default 60,000. */
  readonly laggingAfterMs?: number;
  /** A destination has stopped when work waits for so long, in ms, and nothing is delivered; as above, default 60,000. */
  readonly stalledAfterMs?: number;
}

/** Options with every default applied. */
export interface ResolvedDashboardOptions {
  readonly path: string;
  readonly operator: ((request: unknown) => string) | undefined;
  readonly allowedOrigins: readonly string[];
  readonly sampleEveryMs: number;
  readonly laggingAfterMs: number;
  readonly stalledAfterMs: number;
}
