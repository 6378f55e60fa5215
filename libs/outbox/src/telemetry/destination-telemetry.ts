import { type Attributes, type Counter, context, type Histogram, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { monotonicMs } from '../runtime/index.js';
import { ATTRIBUTES, DURATION_BUCKETS, SYSTEM } from './attributes.js';
import { endSpan } from './end-span.js';
import { type Publishing, startPublishSpan } from './publish-span.js';
import { isTracing, libraryMeter } from './scope.js';

/** How an attempt can end, as it is counted. */
const OUTCOMES = ['delivered', 'retry', 'defer', 'unreachable', 'dead'] as const;
type AttemptOutcome = (typeof OUTCOMES)[number];

/** What a call of a transport says of one event. */
interface Answer {
  readonly outcome: { readonly kind: AttemptOutcome | 'held' };
  readonly isUnclassified: boolean;
}

/** What the dispatch to one destination reports. */
export class DestinationTelemetry {
  private readonly duration: Histogram;
  private readonly sent: Counter;
  private readonly attempts: Counter;
  private readonly lost: Counter;
  private readonly unclassifiedErrors: Counter;
  private readonly operation: Attributes;

  /** @param attributes say which destination it is. */
  constructor(private readonly attributes: Attributes) {
    this.operation = {
      ...attributes,
      [ATTRIBUTES.system]: SYSTEM,
      [ATTRIBUTES.operationName]: 'publish',
      [ATTRIBUTES.operationType]: 'send',
    };
    const meter = libraryMeter();
    this.duration = meter.createHistogram('messaging.client.operation.duration', {
      unit: 's',
      description: 'How long a call of the transport took, with one event or a batch.',
      advice: { explicitBucketBoundaries: DURATION_BUCKETS },
    });
    this.sent = meter.createCounter('messaging.client.sent.messages', {
      unit: '{message}',
      description: 'Events handed to the transport.',
    });
    this.attempts = meter.createCounter('outbox.delivery.attempts', {
      unit: '{attempt}',
      description: 'Attempts to deliver, by what became of them: delivered, retry, defer, unreachable or dead.',
    });
    this.lost = meter.createCounter('outbox.lease.lost', {
      unit: '{delivery}',
      description: 'Outcomes that could not be written because another dispatcher had taken the delivery over.',
    });
    this.unclassifiedErrors = meter.createCounter('outbox.unclassified.errors', {
      unit: '{error}',
      description: 'Failures that a transport threw instead of classifying them.',
    });
    this.beginAtZero();
  }

  /** Runs a call of the transport, which must not reject, in the span of its event, or of each event of a batch. */
  async publishing<A extends Answer>(
    publishings: readonly Publishing[],
    call: () => Promise<readonly A[]>,
  ): Promise<readonly A[]> {
    const spans = isTracing() ? publishings.map((one) => startPublishSpan(one, this.operation)) : [];
    const [only] = spans;
    const startedAt = monotonicMs();
    // The spans of an instrumented client can be below one span only.
    const answers = await (only !== undefined && spans.length === 1
      ? context.with(trace.setSpan(ROOT_CONTEXT, only), call)
      : call());
    this.recordCall((monotonicMs() - startedAt) / 1000, answers);
    for (const [index, span] of spans.entries()) {
      const answer = answers[index];
      span.setAttribute(ATTRIBUTES.outcome, answer?.outcome.kind ?? 'held');
      endSpan(span, answer && errorTypeOf(answer));
    }
    return answers;
  }

  attempted(outcome: AttemptOutcome, count: number): void {
    if (count > 0) this.attempts.add(count, { ...this.attributes, [ATTRIBUTES.outcome]: outcome });
  }

  leaseLost(count: number): void {
    if (count > 0) this.lost.add(count, this.attributes);
  }

  unclassified(count: number): void {
    if (count > 0) this.unclassifiedErrors.add(count, this.attributes);
  }

  private recordCall(seconds: number, answers: readonly Answer[]): void {
    const counts = new Map<string | undefined, number>();
    for (const answer of answers) {
      if (answer.outcome.kind === 'held') continue;
      const errorType = errorTypeOf(answer);
      counts.set(errorType, (counts.get(errorType) ?? 0) + 1);
    }
    if (counts.size === 0) return;
    // The call as a whole has failed only when it delivered nothing.
    const [firstError] = counts.keys();
    this.duration.record(seconds, this.operationWith(counts.has(undefined) ? undefined : firstError));
    for (const [errorType, count] of counts) this.sent.add(count, this.operationWith(errorType));
  }

  private operationWith(errorType: string | undefined): Attributes {
    return errorType === undefined ? this.operation : { ...this.operation, [ATTRIBUTES.errorType]: errorType };
  }

  /** A counter that comes into being with its first 1 never was seen to grow: an alert on its growth would be silent. */
  private beginAtZero(): void {
    for (const outcome of OUTCOMES) this.attempts.add(0, { ...this.attributes, [ATTRIBUTES.outcome]: outcome });
    this.lost.add(0, this.attributes);
    this.unclassifiedErrors.add(0, this.attributes);
  }
}

/** Undefined where nothing went wrong: what is deferred or held back is only not yet possible. */
function errorTypeOf({ outcome: { kind }, isUnclassified }: Answer): string | undefined {
  if (isUnclassified) return 'unclassified';
  return kind === 'delivered' || kind === 'defer' || kind === 'held' ? undefined : kind;
}
