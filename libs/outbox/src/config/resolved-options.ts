import type { EntityTarget, ObjectLiteral } from 'typeorm';
import type { EventDefinition } from '../event/index.js';
import type { CurrentManager } from '../transaction/index.js';
import type { Transport } from '../transports/index.js';
import type {
  Completion,
  DestinationOptions,
  DispatcherOptions,
  MigrateMode,
  OutboxRetentionOptions,
  OutboxTableOptions,
  StartUpChecks,
} from './module-options.js';

export interface ResolvedDestination extends Required<Omit<DestinationOptions, 'transport'>> {
  readonly name: string;
  readonly transport: Transport;
}

export interface ResolvedDispatcher extends Required<DispatcherOptions> {
  /** Takes the place of `pollIntervalMs` while wake-ups of other processes do not arrive. */
  readonly pollIntervalWithoutWakeUpMs: number;
}

export interface ResolvedRetention extends Required<OutboxRetentionOptions> {
  /** To be said at the start. */
  readonly warnings: readonly string[];
}

/** Options with every default applied and every cross-check done. */
export interface ResolvedOptions {
  readonly destinations: ReadonlyMap<string, ResolvedDestination>;
  readonly routes: RouteTable;
  readonly schema: string;
  readonly tables: Required<OutboxTableOptions>;
  readonly migrate: MigrateMode;
  readonly startUpChecks: StartUpChecks;
  readonly completion: Completion;
  readonly maxPayloadBytes: number;
  readonly preparesStatements: boolean;
  readonly dispatcher: ResolvedDispatcher;
  readonly retention: ResolvedRetention | undefined;
  readonly currentManager: CurrentManager | undefined;
  readonly expectEventsFor: readonly EntityTarget<ObjectLiteral>[];
}

/** Destinations of each event type; undefined for a type that no route names. */
export interface RouteTable {
  destinationsOf(type: string): readonly string[] | undefined;
  /** Types that are routed to a destination. */
  typesTo(destination: string): readonly string[];
  /** Definitions of the event classes that routes name; types given as text have none. */
  definitionOf(type: string): EventDefinition | undefined;
}
