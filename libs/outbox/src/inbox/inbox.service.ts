import type { EntityManager } from 'typeorm';
import {
  InboxConflictError,
  InboxUnavailableError,
  NoActiveTransactionError,
  OutboxError,
  TransactionNotCommittedError,
} from '../errors/index.js';
import { toPayloadJson } from '../event/index.js';
import { monotonicMs } from '../runtime/index.js';
import type { InboxStore, ProcessedEntry, ProcessedEvent } from '../store/index.js';
import type { InboxTelemetry } from '../telemetry/index.js';
import type { TransactionContext } from '../transaction/index.js';
import { InFlight } from './in-flight.js';
import type { InboxMessage, InboxResult } from './inbox-message.js';
import { toProcessedEntry } from './processed-entry.js';
import type { ResolvedInboxOptions } from './resolve-inbox-options.js';

const MAX_RESULT_BYTES = 1_048_576;

type Limits = Pick<ResolvedInboxOptions, 'waitMs' | 'retryAfterSeconds' | 'isolation'>;

/** The work of one call, with the wait that is left for the record. */
type Apply<T> = (manager: EntityManager, waitMs: number) => Promise<InboxResult<T>>;

/**
 * Applies one event once for each consumer: the record that it was processed, and the effect of the handler, are in one
 * transaction and commit together or not at all.
 */
export class InboxService {
  private readonly inFlight = new InFlight();

  constructor(
    private readonly context: TransactionContext,
    private readonly store: InboxStore,
    private readonly limits: Limits,
    private readonly telemetry: InboxTelemetry,
  ) {}

  /**
   * Runs the handler unless this consumer has processed the event before. Injected repositories, `dataSource.manager`
   * and emit() inside the handler take part in the same transaction: the ambient one or that of `manager` when there is
   * one, else a new one, which is committed when this resolves. In a transaction of the caller, acknowledge the message
   * only after its commit.
   *
   * What the handler writes through any other connection is not protected.
   *
   * @throws InboxRefusedError when the message cannot be recorded: ids that are missing or too long, content that is no
   *   JSON; InboxConflictError when the event was processed with other content; InboxUnavailableError when another
   *   delivery of it takes longer than `waitMs`, or PostgreSQL asks to try again; TransactionNotCommittedError when the
   *   handler swallowed a database error; and whatever the handler throws. After an error nothing is recorded.
   */
  process<T>(
    message: InboxMessage,
    handler: (manager: EntityManager) => Promise<T>,
    options: { readonly manager?: EntityManager } = {},
  ): Promise<InboxResult<T>> {
    const work = async (): Promise<InboxResult<T>> => {
      const entry = toProcessedEntry(message);
      const apply: Apply<T> = (manager, waitMs) => this.apply(manager, entry, waitMs, message, handler);
      const outer = this.outerManager(options.manager);
      return outer === undefined
        ? this.inOwnTransaction(message, entry, apply)
        : this.inOuterTransaction(outer, entry, apply);
    };
    return this.telemetry.processing(message, () => this.translating(message, work));
  }

  private async inOwnTransaction<T>(
    message: InboxMessage,
    entry: ProcessedEntry,
    apply: Apply<T>,
  ): Promise<InboxResult<T>> {
    const deadlineMs = monotonicMs() + this.limits.waitMs;
    const leave = await this.inFlight.enter(JSON.stringify([entry.consumer, entry.eventId]), deadlineMs);
    if (leave === undefined) throw this.unavailable(message);
    let isOpen = false;
    try {
      return await this.context.run(
        (manager) => {
          isOpen = true;
          return apply(manager, deadlineMs - monotonicMs());
        },
        { isolation: this.limits.isolation },
      );
    } catch (error) {
      // No connection, or no BEGIN: whatever the reason, nothing of this event was tried.
      if (!isOpen && !(error instanceof OutboxError)) throw this.unavailable(message, error);
      throw error;
    } finally {
      leave();
    }
  }

  /**
   * The caller commits, and TypeORM does not notice when PostgreSQL answers COMMIT with ROLLBACK. So look whether the
   * record is still there: after a swallowed error the look itself fails.
   */
  private async inOuterTransaction<T>(
    outer: EntityManager,
    entry: ProcessedEntry,
    apply: Apply<T>,
  ): Promise<InboxResult<T>> {
    const result = await this.context.run((manager) => apply(manager, this.limits.waitMs), { joinable: outer });
    if (result.outcome === 'duplicate') return result;
    const record = await this.store.find(outer, entry.consumer, entry.eventId).catch((error: unknown) => {
      throw notCommittable(error);
    });
    if (record === undefined) throw notCommittable();
    return result;
  }

  private async apply<T>(
    manager: EntityManager,
    entry: ProcessedEntry,
    waitMs: number,
    { keepResult }: InboxMessage,
    handler: (manager: EntityManager) => Promise<T>,
  ): Promise<InboxResult<T>> {
    const recorded = await this.store.record(manager, entry, waitMs);
    if (!recorded.isRecorded) return this.duplicate(manager, entry, recorded.earlier);
    const result = await handler(manager);
    if (keepResult && result !== undefined) {
      const { text } = toPayloadJson(result, MAX_RESULT_BYTES, 'result');
      await this.store.keepResult(manager, entry.consumer, entry.eventId, text);
    }
    return { outcome: 'processed', result };
  }

  private async duplicate(
    manager: EntityManager,
    entry: ProcessedEntry,
    seen: ProcessedEvent | undefined,
  ): Promise<InboxResult<never>> {
    const earlier = seen ?? (await this.store.find(manager, entry.consumer, entry.eventId));
    if (earlier === undefined) {
      throw new InboxUnavailableError(
        `the record of event ${entry.eventId} went away while it was looked at. Deliver the event again.`,
        this.limits.retryAfterSeconds,
      );
    }
    if (!earlier.contentDigest.equals(entry.contentDigest)) {
      throw new InboxConflictError(entry.consumer, entry.eventId);
    }
    return { outcome: 'duplicate', result: earlier.result };
  }

  private outerManager(given: EntityManager | undefined): EntityManager | undefined {
    const current = this.context.current();
    if (given === undefined) return current;
    if (!this.context.isActive(given)) {
      throw new NoActiveTransactionError(
        "process() was given a manager without an active transaction of this inbox's DataSource, and nothing was done. Pass the manager of dataSource.transaction(), or none.",
      );
    }
    if (current !== undefined && current.queryRunner !== given.queryRunner) {
      throw new NoActiveTransactionError(
        'process() was called inside one transaction and given the manager of another one, and nothing was done. Pass no manager there.',
      );
    }
    return given;
  }

  private async translating<T>(message: InboxMessage, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.store.isTransient(error) ? this.unavailable(message, error) : error;
    }
  }

  private unavailable({ consumer, event }: InboxMessage, cause?: unknown): InboxUnavailableError {
    return new InboxUnavailableError(
      `consumer "${consumer}" could not process event ${event.id} now: another delivery of it is being processed, or the database asks to try again. Deliver it again later.`,
      this.limits.retryAfterSeconds,
      cause,
    );
  }
}

function notCommittable(cause?: unknown): TransactionNotCommittedError {
  return new TransactionNotCommittedError(
    'the surrounding transaction can no longer be committed: an error inside the handler was swallowed. Let database errors leave the handler, or catch them around a nested transaction.',
    cause,
  );
}
