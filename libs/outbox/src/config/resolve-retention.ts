import { ConfigurationError } from '../errors/index.js';
import type { OutboxRetentionOptions } from './module-options.js';
import { wholeNumber } from './number-option.js';
import type { ResolvedDestination, ResolvedRetention } from './resolved-options.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Applies the defaults of the retention and checks them against the destinations.
 *
 * @throws ConfigurationError naming the option that is wrong.
 */
export function resolveRetention(
  options: OutboxRetentionOptions | undefined,
  destinations: Iterable<ResolvedDestination>,
): ResolvedRetention | undefined {
  if (options === undefined) return undefined;
  const number = (key: keyof OutboxRetentionOptions, fallback: number, min: number, max: number): number =>
    wholeNumber(`retention.${key}`, options[key], fallback, min, max);
  if (options.deliveredForMs === undefined) {
    throw new ConfigurationError(
      '"retention" has no "deliveredForMs". Say how long delivered events stay in the log, for example 30 days: 2592000000.',
    );
  }
  const deliveredForMs = number('deliveredForMs', 30 * DAY_MS, 1000, 3650 * DAY_MS);
  return {
    deliveredForMs,
    everyMs: number('everyMs', HOUR_MS, 100, 7 * DAY_MS),
    batchSize: number('batchSize', 1000, 1, 100_000),
    lockTimeoutMs: number('lockTimeoutMs', 200, 1, 60_000),
    aheadDays: number('aheadDays', 7, 1, 60),
    warnings: [...destinations].flatMap((destination) => warningOf(destination, deliveredForMs)),
  };
}

/** Retention counts from when an event was written: one that takes longer to arrive has no time left afterwards. */
function warningOf(
  { name, maxAttempts, retryCapMs, maxDeferAgeMs }: ResolvedDestination,
  deliveredForMs: number,
): string[] {
  const longestMs = maxDeferAgeMs + (maxAttempts - 1) * retryCapMs;
  if (deliveredForMs >= longestMs) return [];
  return [
    `"retention.deliveredForMs" (${deliveredForMs}) is less than an event may be on its way to "${name}" (${longestMs} = "maxDeferAgeMs" ${maxDeferAgeMs} + ${maxAttempts - 1} retries × "retryCapMs" ${retryCapMs}): one that takes longer leaves the log as soon as it is delivered, before anybody can look it up or replay it.`,
  ];
}
