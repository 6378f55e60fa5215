import { hostname } from 'node:os';
import { ConfigurationError } from '../errors/index.js';
import type { DispatcherOptions, OutboxModuleOptions } from './module-options.js';
import { wholeNumber } from './number-option.js';
import { resolveDestination } from './resolve-destination.js';
import { resolveRetention } from './resolve-retention.js';
import { resolveRoutes } from './resolve-routes.js';
import { resolveSchema, resolveTables } from './resolve-tables.js';
import type { ResolvedDispatcher, ResolvedOptions } from './resolved-options.js';

const DEFAULT_PAYLOAD_BYTES = 1_048_576;
const MAX_PAYLOAD_BYTES = 256 * 1_048_576;
/** Where polling is how events of other processes are found. */
const POLL_MS = 1000;
/** Where wake-ups are, and polling finds what they missed: an idle instance costs next to nothing. */
const SAFETY_POLL_MS = 5000;

/**
 * Applies all defaults once and checks the options against each other.
 *
 * @throws ConfigurationError naming the fields that are wrong or contradict.
 */
export function resolveOptions(options: OutboxModuleOptions): ResolvedOptions {
  if (typeof options !== 'object' || options === null) {
    throw new ConfigurationError('OutboxModule got no options. Give it at least { destinations, routes }.');
  }
  const destinations = new Map(
    Object.entries(options.destinations ?? {}).map(([name, given]) => [name, resolveDestination(name, given)]),
  );
  const resolved: ResolvedOptions = {
    destinations,
    routes: resolveRoutes(options.routes ?? [], new Set(destinations.keys())),
    schema: resolveSchema(options.schema),
    tables: resolveTables(options.tables),
    migrate: oneOf('migrate', options.migrate ?? 'verify', ['verify', 'auto', 'off']),
    startUpChecks: oneOf('startUpChecks', options.startUpChecks ?? 'warn', ['warn', 'refuse', 'off']),
    completion: oneOf('completion', options.completion ?? 'delete', ['delete', 'keep', 'archive']),
    maxPayloadBytes: wholeNumber(
      'maxPayloadBytes',
      options.maxPayloadBytes,
      DEFAULT_PAYLOAD_BYTES,
      1,
      MAX_PAYLOAD_BYTES,
    ),
    preparesStatements: options.preparedStatements ?? true,
    dispatcher: resolveDispatcher(options.dispatcher ?? {}),
    retention: resolveRetention(options.retention, destinations.values()),
    currentManager: options.currentManager,
    expectEventsFor: options.expectEventsFor ?? [],
  };
  checkShares(resolved);
  return resolved;
}

function resolveDispatcher(options: DispatcherOptions): ResolvedDispatcher {
  const enabled = options.enabled ?? true;
  if (!enabled && options.schedule !== undefined && options.schedule !== false) {
    throw new ConfigurationError(
      `"dispatcher.enabled" is false, but "dispatcher.schedule" is "${options.schedule}". Remove one of them.`,
    );
  }
  if (options.schedule !== undefined && options.schedule !== false && typeof options.schedule !== 'string') {
    throw new ConfigurationError(
      `"dispatcher.schedule" is ${String(options.schedule)}; it must be 'loop', false, or a cron expression.`,
    );
  }
  const wakeUp = options.wakeUp ?? true;
  const pollIntervalMs = (fallback: number): number =>
    wholeNumber('dispatcher.pollIntervalMs', options.pollIntervalMs, fallback, 10, 3_600_000);
  return {
    enabled,
    schedule: options.schedule ?? 'loop',
    wakeUp,
    pollIntervalMs: pollIntervalMs(wakeUp ? SAFETY_POLL_MS : POLL_MS),
    pollIntervalWithoutWakeUpMs: pollIntervalMs(POLL_MS),
    poolSize: wholeNumber('dispatcher.poolSize', options.poolSize, 3, 1, 100),
    shutdownGraceMs: wholeNumber('dispatcher.shutdownGraceMs', options.shutdownGraceMs, 10_000, 0, 3_600_000),
    instanceName: options.instanceName ?? `${hostname()}:${process.pid}`,
  };
}

/** An event that is larger than a claim may carry would still be taken, alone, but the option would say otherwise. */
function checkShares(options: ResolvedOptions): void {
  for (const destination of options.destinations.values()) {
    if (destination.batchBytes >= options.maxPayloadBytes) continue;
    throw new ConfigurationError(
      `"destinations.${destination.name}.batchBytes" (${destination.batchBytes}) is less than "maxPayloadBytes" (${options.maxPayloadBytes}): one event would not fit into a batch.`,
    );
  }
}

function oneOf<T extends string>(name: string, value: T, allowed: readonly T[]): T {
  if (allowed.includes(value)) return value;
  throw new ConfigurationError(`"${name}" is ${JSON.stringify(value)}; it must be one of ${allowed.join(', ')}.`);
}
