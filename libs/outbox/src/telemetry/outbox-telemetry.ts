import { type Attributes, type Counter, context, SpanKind, trace } from '@opentelemetry/api';
import { type EventHeaders, findEventDefinition } from '../event/index.js';
import { ATTRIBUTES, SYSTEM } from './attributes.js';
import { type BacklogFigures, observeBacklog } from './backlog-gauges.js';
import { DestinationTelemetry } from './destination-telemetry.js';
import { endSpan, errorTypeOf } from './end-span.js';
import { isTracing, libraryMeter, libraryTracer } from './scope.js';
import { traceHeadersOf } from './trace-headers.js';

/** What one outbox reports, from the moment an event is emitted. Make it after the application has set its SDK up. */
export class OutboxTelemetry {
  private readonly base: Attributes;
  private readonly emittedEvents: Counter;

  /** @param name of the outbox when it is not that of the default DataSource. */
  constructor(name?: string) {
    this.base = name === undefined ? {} : { [ATTRIBUTES.outbox]: name };
    this.emittedEvents = libraryMeter().createCounter('outbox.emitted.events', {
      unit: '{event}',
      description: 'Events whose transaction has committed.',
    });
  }

  ofDestination(destination: string): DestinationTelemetry {
    return new DestinationTelemetry({ ...this.base, [ATTRIBUTES.destination]: destination });
  }

  /** @returns ends the observation. */
  observeBacklog(read: () => Promise<readonly BacklogFigures[]>): () => void {
    return observeBacklog(this.base, read);
  }

  /**
   * Runs the storing of events in a span, whose context all of them carry from then on.
   *
   * @param store given the headers to add; undefined when no span is active. Answers the ids of the events.
   */
  async emitting(
    events: readonly object[],
    store: (trace: EventHeaders | undefined) => Promise<string[]>,
  ): Promise<string[]> {
    if (events.length === 0 || !isTracing()) return store(traceHeadersOf(context.active()));
    const types = new Set(events.map((event) => findEventDefinition(event.constructor)?.type ?? 'unknown'));
    const [type] = types;
    const isOne = events.length === 1;
    const span = libraryTracer().startSpan(types.size === 1 ? `emit ${type}` : 'emit', {
      kind: SpanKind.PRODUCER,
      attributes: {
        ...this.base,
        [ATTRIBUTES.system]: SYSTEM,
        [ATTRIBUTES.operationName]: 'emit',
        [ATTRIBUTES.operationType]: isOne ? 'create' : 'send',
        ...(types.size === 1 ? { [ATTRIBUTES.eventType]: type } : {}),
        ...(isOne ? {} : { [ATTRIBUTES.batchCount]: events.length }),
      },
    });
    const emitting = trace.setSpan(context.active(), span);
    try {
      const ids = await context.with(emitting, () => store(traceHeadersOf(emitting)));
      if (isOne) span.setAttribute(ATTRIBUTES.messageId, ids[0] ?? '');
      endSpan(span);
      return ids;
    } catch (error) {
      endSpan(span, errorTypeOf(error));
      throw error;
    }
  }

  /** @param types of the events of a committed transaction, one for each. */
  emitted(types: readonly string[]): void {
    const counts = new Map<string, number>();
    for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1);
    for (const [type, count] of counts) this.emittedEvents.add(count, { ...this.base, [ATTRIBUTES.eventType]: type });
  }
}
