import { type Attributes, type Counter, context, type Histogram, trace } from '@opentelemetry/api';
import { InboxConflictError, InboxRefusedError, InboxUnavailableError } from '../errors/index.js';
import { monotonicMs } from '../runtime/index.js';
import { ATTRIBUTES, DURATION_BUCKETS, SYSTEM } from './attributes.js';
import { endSpan, errorTypeOf } from './end-span.js';
import { type Processing, startProcessSpan } from './process-span.js';
import { isTracing, libraryMeter } from './scope.js';

const OUTCOMES = ['processed', 'duplicate', 'conflict', 'refused', 'unavailable', 'failed'] as const;
type InboxOutcome = (typeof OUTCOMES)[number];

/** What one inbox reports. Make it after the application has set its SDK up. */
export class InboxTelemetry {
  private readonly duration: Histogram;
  private readonly consumed: Counter;
  private readonly messages: Counter;
  private readonly parkedMessages: Counter;

  constructor() {
    const meter = libraryMeter();
    this.duration = meter.createHistogram('messaging.process.duration', {
      unit: 's',
      description: 'How long a message took from its record to the commit, whatever became of it.',
      advice: { explicitBucketBoundaries: DURATION_BUCKETS },
    });
    this.consumed = meter.createCounter('messaging.client.consumed.messages', {
      unit: '{message}',
      description: 'Messages that reached a consumer.',
    });
    this.messages = meter.createCounter('inbox.messages', {
      unit: '{message}',
      description: `Messages, by what became of them: ${OUTCOMES.join(', ')}.`,
    });
    this.parkedMessages = meter.createCounter('inbox.parked.messages', {
      unit: '{message}',
      description: 'Messages that are kept until somebody decides about them.',
    });
  }

  /** A counter that comes into being with its first 1 never was seen to grow: an alert on its growth would be silent. */
  beginAtZero(consumers: readonly string[]): void {
    for (const consumer of consumers) {
      for (const outcome of OUTCOMES) this.messages.add(0, attributesOf(consumer, outcome));
      this.parkedMessages.add(0, { [ATTRIBUTES.consumer]: consumer });
    }
  }

  /** Runs the processing of a message in its span, and counts how it ended. */
  async processing<R extends { readonly outcome: 'processed' | 'duplicate' }>(
    message: Processing,
    work: () => Promise<R>,
  ): Promise<R> {
    const operation: Attributes = {
      [ATTRIBUTES.system]: SYSTEM,
      [ATTRIBUTES.operationName]: 'process',
      [ATTRIBUTES.operationType]: 'process',
      [ATTRIBUTES.consumer]: message.consumer,
    };
    const span = isTracing() ? startProcessSpan(message, operation) : undefined;
    const startedAt = monotonicMs();
    const finish = (outcome: InboxOutcome, errorType?: string): void => {
      const failed = errorType === undefined ? operation : { ...operation, [ATTRIBUTES.errorType]: errorType };
      this.duration.record((monotonicMs() - startedAt) / 1000, { ...failed, [ATTRIBUTES.inboxOutcome]: outcome });
      this.consumed.add(1, failed);
      this.messages.add(1, attributesOf(message.consumer, outcome));
      if (span === undefined) return;
      span.setAttribute(ATTRIBUTES.inboxOutcome, outcome);
      endSpan(span, errorType);
    };
    try {
      const result = await (span === undefined ? work() : context.with(trace.setSpan(context.active(), span), work));
      finish(result.outcome);
      return result;
    } catch (error) {
      finish(outcomeOf(error), errorTypeOf(error));
      throw error;
    }
  }

  /** A message was turned away before it could be processed. */
  refused(consumer: string, error: unknown): void {
    this.messages.add(1, attributesOf(consumer, outcomeOf(error)));
  }

  parked(consumer: string): void {
    this.parkedMessages.add(1, { [ATTRIBUTES.consumer]: consumer });
  }
}

function attributesOf(consumer: string, outcome: InboxOutcome): Attributes {
  return { [ATTRIBUTES.consumer]: consumer, [ATTRIBUTES.inboxOutcome]: outcome };
}

function outcomeOf(error: unknown): InboxOutcome {
  if (error instanceof InboxConflictError) return 'conflict';
  if (error instanceof InboxRefusedError) return 'refused';
  return error instanceof InboxUnavailableError ? 'unavailable' : 'failed';
}
