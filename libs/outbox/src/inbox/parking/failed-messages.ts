import { createHash } from 'node:crypto';
import { Logger } from '@nestjs/common';
import {
  ConfigurationError,
  describeError,
  InboxConflictError,
  InboxRefusedError,
  InboxUnavailableError,
} from '../../errors/index.js';
import { fullJitterMs, logLine, type Random } from '../../runtime/index.js';
import type { FailedMessageStore, MessageFailure, RawMessage } from '../../store/index.js';
import type { InboxTelemetry } from '../../telemetry/index.js';
import type { Refusal } from '../refusal.js';

/** What is to become of a message that failed: it was parked, or it comes again. */
export type Verdict = { readonly kind: 'parked' } | { readonly kind: 'again'; readonly delayMs: number };

export interface RedeliveryLimits {
  /** Failures of the handler until a message is parked. */
  readonly parkAfter: number;
  readonly redeliveryBaseMs: number;
  readonly redeliveryCapMs: number;
  readonly retryAfterSeconds: number;
}

/**
 * Decides about messages that failed. Nothing is swallowed: a message comes again, or it is kept with its reason for
 * somebody who decides. What can never be processed is kept at once, so that it is not delivered without end.
 */
export class FailedMessages {
  private readonly logger = new Logger('Inbox');

  constructor(
    private readonly store: FailedMessageStore,
    private readonly limits: RedeliveryLimits,
    private readonly random: Random,
    private readonly telemetry: InboxTelemetry,
  ) {}

  /**
   * @param redelivers false where nobody would deliver the message again; then it is parked whatever the reason.
   * @throws what the database says when the message could neither be parked nor will it come again: it is lost then.
   */
  async decide(refusal: Refusal, message: RawMessage, redelivers: boolean): Promise<Verdict> {
    const failure = failureOf(refusal, message);
    if (redelivers && isPassing(refusal.error)) return this.again(this.limits.retryAfterSeconds * 1000);
    try {
      const attempts = isFinal(refusal.error) ? undefined : await this.store.count(failure);
      this.report(refusal, failure, attempts);
      if (redelivers && attempts !== undefined && attempts < this.limits.parkAfter) {
        const { redeliveryBaseMs, redeliveryCapMs } = this.limits;
        return this.again(fullJitterMs(attempts, redeliveryBaseMs, redeliveryCapMs, this.random));
      }
      await this.store.park(failure, message);
      this.telemetry.parked(failure.consumer);
      this.logger.error(logLine('message parked', { ...fieldsOf(failure), source: message.source }));
      return { kind: 'parked' };
    } catch (error) {
      const fields = { ...fieldsOf(failure), source: message.source, reason: failure.error };
      if (!redelivers) {
        this.logger.error(logLine('message lost: it failed, could not be parked and will not come again', fields));
        throw error;
      }
      this.logger.error(
        logLine('the failure of a message could not be counted', { ...fields, cause: describeError(error) }),
      );
      return this.again(this.limits.retryAfterSeconds * 1000);
    }
  }

  private again(delayMs: number): Verdict {
    return { kind: 'again', delayMs: Math.max(1, Math.round(delayMs)) };
  }

  /** What the inbox itself decided is reported already. */
  private report({ error }: Refusal, failure: MessageFailure, attempts: number | undefined): void {
    if (attempts === undefined || error instanceof ConfigurationError) return;
    this.logger.error(logLine('handler failed', { ...fieldsOf(failure), attempts, error: failure.error }));
  }
}

/** Not the message's fault: another delivery is being processed, the database is away, or the application is set up wrongly. */
function isPassing(error: unknown): boolean {
  return error instanceof InboxUnavailableError || error instanceof ConfigurationError;
}

/** No second try can help. */
function isFinal(error: unknown): boolean {
  return error instanceof InboxRefusedError || error instanceof InboxConflictError;
}

/** A message without an id is known by its bytes, so that the same one is parked once. */
function failureOf({ error, handler, event }: Refusal, { body }: RawMessage): MessageFailure {
  const messageId = event?.id ?? `sha256:${createHash('sha256').update(body).digest('hex')}`;
  return { consumer: handler.consumer, messageId, eventType: event?.type, error: describeError(error) };
}

function fieldsOf({ consumer, messageId, eventType }: MessageFailure): Record<string, string | undefined> {
  return { consumer, message: messageId, type: eventType };
}
