import {
  ConfigurationError,
  describeError,
  InboxConflictError,
  InboxRefusedError,
  InboxUnavailableError,
} from '../../errors/index.js';
import { EVENT_HANDLERS, type EventEnvelope, type EventHandlers, type ReceivedEvent } from '../../event/index.js';
import { delivered, held, type PublishOutcome } from '../publish-outcome.js';
import { requireSource } from '../source.js';
import type { OutgoingEvent, Transport, TransportCapabilities, TransportHost } from '../transport.js';
import { unanswered } from '../unanswered.js';
import { untilAborted } from '../until-aborted.js';

export interface InProcessTransportOptions {
  /** CloudEvents `source` of the events; default `/nestjs-transactional-outbox`. */
  readonly source?: string;
}

/**
 * Delivers to the `@OnOutboxEvent` handlers of the same application: the destination's name is that of the consumer. Each
 * consumer is a destination of its own, so it has its own attempts, dead letters and order. `delivered` means that the
 * handler's effect is committed, together with the record that this consumer has processed the event.
 */
export class InProcessTransport implements Transport {
  readonly capabilities: TransportCapabilities = { batch: false, keepsOrderPerKey: false, deduplicates: true };
  readonly #source: string;
  #handlers: EventHandlers | undefined;

  /** @throws ConfigurationError when `source` is no URI reference. */
  constructor(options: InProcessTransportOptions = {}) {
    this.#source = requireSource('InProcessTransport', options.source);
  }

  /** @throws ConfigurationError when there is no InboxModule, or a routed type that no handler of the consumer takes. */
  attach({ destination, types, findAll }: TransportHost): void {
    const inboxes = findAll<EventHandlers>(EVENT_HANDLERS);
    if (inboxes.length === 0) {
      throw new ConfigurationError(
        `destination "${destination}" is delivered in this process, which needs the inbox to apply each event once. Import InboxModule.`,
      );
    }
    const handlers = inboxes.find((inbox) => inbox.typesOf(destination) !== undefined);
    const taken = handlers?.typesOf(destination);
    const missing = types.filter((type) => !(taken?.has(type) ?? false));
    if (missing.length > 0) {
      throw new ConfigurationError(
        `destination "${destination}" is delivered in this process, but no handler takes ${missing.map((type) => `"${type}"`).join(', ')}. Put @OnOutboxEvent('${destination}', …) on one, or change the routes.`,
      );
    }
    this.#handlers = handlers;
  }

  publish(batch: readonly OutgoingEvent[], signal: AbortSignal): Promise<readonly PublishOutcome[]> {
    if (signal.aborted) return Promise.resolve(batch.map(() => held));
    return Promise.all(batch.map((event) => untilAborted(this.#handle(event), signal, () => unanswered)));
  }

  /** Never rejects. */
  async #handle({ destination, envelope }: OutgoingEvent): Promise<PublishOutcome> {
    try {
      if (this.#handlers === undefined) throw new ConfigurationError('the application has not started yet.');
      const outcome = await this.#handlers.handle(destination, toReceivedEvent(envelope, this.#source));
      return outcome === 'duplicate' ? { kind: 'delivered', duplicate: true } : delivered;
    } catch (error) {
      return failureOf(error);
    }
  }
}

function failureOf(error: unknown): PublishOutcome {
  const text = describeError(error);
  if (error instanceof InboxRefusedError || error instanceof InboxConflictError) return { kind: 'dead', error: text };
  if (error instanceof InboxUnavailableError) {
    return { kind: 'defer', reason: text, delayMs: error.retryAfterSeconds * 1000 };
  }
  return { kind: 'retry', error: text };
}

function toReceivedEvent(envelope: EventEnvelope, source: string): ReceivedEvent {
  return { ...envelope, source };
}
