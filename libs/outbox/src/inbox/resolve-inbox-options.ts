import { type MigrateMode, wholeNumber } from '../config/index.js';
import { ConfigurationError } from '../errors/index.js';
import { type InboxSchemaOptions, resolveInboxNames } from '../store/index.js';
import type { CurrentManager, IsolationLevel } from '../transaction/index.js';
import type { InboxModuleOptions, InboxRetentionOptions } from './inbox-options.js';

export type ResolvedInboxRetention = Required<InboxRetentionOptions>;

/** Options with every default applied and every cross-check done. */
export interface ResolvedInboxOptions {
  readonly tables: InboxSchemaOptions;
  readonly migrate: MigrateMode;
  readonly secrets: readonly string[];
  readonly requireSignature: boolean;
  readonly signatureToleranceSeconds: number;
  readonly maxBodyBytes: number;
  readonly waitMs: number;
  readonly parkAfter: number;
  readonly redeliveryBaseMs: number;
  readonly redeliveryCapMs: number;
  readonly retryAfterSeconds: number;
  readonly dedupeWindowMs: number;
  readonly retention: ResolvedInboxRetention | undefined;
  readonly longestRedeliveryMs: number;
  readonly preparesStatements: boolean;
  readonly isolation: IsolationLevel | undefined;
  readonly currentManager: CurrentManager | undefined;
}

const MIB = 1_048_576;
const HOUR_SECONDS = 3600;
const DAY_MS = 86_400_000;
const MIGRATE_MODES: readonly MigrateMode[] = ['verify', 'auto', 'off'];

/**
 * Applies all defaults once and checks the options against each other.
 *
 * @throws ConfigurationError naming the options that are wrong or contradict. It never contains a secret.
 */
export function resolveInboxOptions(options: InboxModuleOptions): ResolvedInboxOptions {
  if (typeof options !== 'object' || options === null) {
    throw new ConfigurationError('InboxModule got no options. Give it at least { secret }.');
  }
  const migrate = options.migrate ?? 'verify';
  if (!MIGRATE_MODES.includes(migrate)) {
    throw new ConfigurationError(
      `"migrate" is ${JSON.stringify(migrate)}; it must be one of ${MIGRATE_MODES.join(', ')}.`,
    );
  }
  const { schema, table } = options;
  resolveInboxNames({ schema, table });
  return {
    tables: { schema, table },
    migrate,
    ...resolveSignature(options),
    signatureToleranceSeconds: number(options, 'signatureToleranceSeconds', 300, 1, 24 * HOUR_SECONDS),
    maxBodyBytes: number(options, 'maxBodyBytes', MIB, 1, 256 * MIB),
    waitMs: number(options, 'waitMs', 5000, 1, HOUR_SECONDS * 1000),
    parkAfter: number(options, 'parkAfter', 10, 1, 1000),
    redeliveryBaseMs: number(options, 'redeliveryBaseMs', 1000, 1, HOUR_SECONDS * 1000),
    redeliveryCapMs: number(options, 'redeliveryCapMs', 60_000, 1, 24 * HOUR_SECONDS * 1000),
    retryAfterSeconds: number(options, 'retryAfterSeconds', 5, 1, 24 * HOUR_SECONDS),
    ...resolveDedupeWindow(options),
    retention: resolveRetention(options.retention),
    preparesStatements: options.preparedStatements ?? true,
    isolation: options.isolation,
    currentManager: options.currentManager,
  };
}

function resolveRetention(options: InboxRetentionOptions | undefined): ResolvedInboxRetention | undefined {
  if (options === undefined) return undefined;
  const { everyMs, batchSize, lockTimeoutMs } = options;
  return {
    everyMs: wholeNumber('retention.everyMs', everyMs, HOUR_SECONDS * 1000, 100, 7 * DAY_MS),
    batchSize: wholeNumber('retention.batchSize', batchSize, 1000, 1, 100_000),
    lockTimeoutMs: wholeNumber('retention.lockTimeoutMs', lockTimeoutMs, 200, 1, 60_000),
  };
}

/** A record that is gone before the last redelivery is an event that is applied twice. */
function resolveDedupeWindow(
  options: InboxModuleOptions,
): Pick<ResolvedInboxOptions, 'dedupeWindowMs' | 'longestRedeliveryMs'> {
  const dedupeWindowMs = number(options, 'dedupeWindowMs', 30 * DAY_MS, 1, 3650 * DAY_MS);
  const longestRedeliveryMs = number(options, 'longestRedeliveryMs', 14 * DAY_MS, 0, 3650 * DAY_MS);
  if (dedupeWindowMs > longestRedeliveryMs) return { dedupeWindowMs, longestRedeliveryMs };
  throw new ConfigurationError(
    `"dedupeWindowMs" (${dedupeWindowMs}) must be longer than "longestRedeliveryMs" (${longestRedeliveryMs}): an event that is delivered again after its record is gone would be applied twice.`,
  );
}

/** Unsigned messages are taken only where somebody said so in so many words. */
function resolveSignature(options: InboxModuleOptions): { secrets: readonly string[]; requireSignature: boolean } {
  const { secret, requireSignature, allowUnsigned } = options;
  if (secret === undefined) {
    if (requireSignature === true) {
      throw new ConfigurationError('"requireSignature" is true, but there is no "secret". Give the senders\' secret.');
    }
    if (allowUnsigned !== true) {
      throw new ConfigurationError(
        'InboxModule has no "secret". Give the Standard Webhooks secret of the senders, or say allowUnsigned: true if nobody but them can reach this application.',
      );
    }
    return { secrets: [], requireSignature: false };
  }
  if (allowUnsigned === true && requireSignature !== false) {
    throw new ConfigurationError(
      '"allowUnsigned" is true, but there is a "secret", with which signatures are required. Remove one, or add requireSignature: false to take both.',
    );
  }
  const secrets = typeof secret === 'string' ? [secret] : [...secret];
  if (secrets.length === 0) {
    throw new ConfigurationError('"secret" is an empty list. Give at least one secret.');
  }
  return { secrets, requireSignature: requireSignature ?? true };
}

type NumberKey =
  | 'signatureToleranceSeconds'
  | 'maxBodyBytes'
  | 'waitMs'
  | 'parkAfter'
  | 'redeliveryBaseMs'
  | 'redeliveryCapMs'
  | 'retryAfterSeconds'
  | 'dedupeWindowMs'
  | 'longestRedeliveryMs';

function number(options: InboxModuleOptions, key: NumberKey, fallback: number, min: number, max: number): number {
  return wholeNumber(key, options[key], fallback, min, max);
}
