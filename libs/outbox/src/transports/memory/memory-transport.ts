import { OutboxError } from '../../errors/index.js';
import { waitFor } from '../../runtime/index.js';
import { orderedKey } from '../ordered-key.js';
import { delivered, held, type PublishOutcome } from '../publish-outcome.js';
import type { OutgoingEvent, Transport, TransportCapabilities } from '../transport.js';
import { untilAborted } from '../until-aborted.js';

export interface MemoryTransportOptions {
  /**
   * Decides about each event; default: delivered. A throw or rejection makes the whole `publish` call reject, as a
   * broken transport would.
   *
   * @param attempt Which attempt this is, from 1 (the event's own).
   */
  readonly respond?: (event: OutgoingEvent, attempt: number) => PublishOutcome | Promise<PublishOutcome>;
}

/**
 * A destination for tests: remembers what it is given and answers as told. Publishes one event after the other; when an
 * ordered event is not delivered, the later ordered events of its aggregate in the same call are `held`.
 */
export class MemoryTransport implements Transport {
  readonly capabilities: TransportCapabilities = { batch: true, keepsOrderPerKey: true, deduplicates: false };
  readonly #respond: MemoryTransportOptions['respond'];
  readonly #waiting = new Set<Waiting>();
  #received: OutgoingEvent[] = [];
  #accepted: OutgoingEvent[] = [];

  constructor(options: MemoryTransportOptions = {}) {
    this.#respond = options.respond;
  }

  /** Every event handed over, in order, once per attempt, whatever the answer was; held ones are not handed over. */
  get received(): readonly OutgoingEvent[] {
    return this.#received;
  }

  /** Those of `received` that were answered with `delivered`, in the order of the answers. */
  get accepted(): readonly OutgoingEvent[] {
    return this.#accepted;
  }

  async publish(batch: readonly OutgoingEvent[], signal: AbortSignal): Promise<readonly PublishOutcome[]> {
    if (this.#respond !== undefined) return this.#askEach(batch, this.#respond, signal);
    return signal.aborted ? batch.map(() => held) : this.#acceptAll(batch);
  }

  /**
   * Resolves with the accepted events as soon as there are at least `count`, counted since the last `clear()`.
   *
   * @param timeoutMs Milliseconds.
   * @throws OutboxError `OUTBOX_MEMORY_WAIT_TIMED_OUT`, which says how many there were.
   */
  async waitForCount(count: number, timeoutMs: number): Promise<readonly OutgoingEvent[]> {
    const waiting: Waiting = { count, reached: new AbortController() };
    this.#waiting.add(waiting);
    this.#wakeWaiting();
    await waitFor(timeoutMs, waiting.reached.signal);
    this.#waiting.delete(waiting);
    if (waiting.reached.signal.aborted) return this.#accepted;
    throw new OutboxError(
      `${this.#accepted.length} of ${count} events were accepted within ${timeoutMs} ms (${this.#received.length} handed over). Look at the answers, or wait longer.`,
      { code: 'OUTBOX_MEMORY_WAIT_TIMED_OUT' },
    );
  }

  /** Forgets all events and starts new lists; the ones obtained before no longer grow. */
  clear(): void {
    this.#received = [];
    this.#accepted = [];
  }

  /** Nothing is there to be waited for, so nothing waits: measurements of the dispatcher are to be about the dispatcher. */
  #acceptAll(batch: readonly OutgoingEvent[]): PublishOutcome[] {
    for (const event of batch) {
      this.#received.push(event);
      this.#accepted.push(event);
    }
    this.#wakeWaiting();
    return batch.map(() => delivered);
  }

  async #askEach(batch: readonly OutgoingEvent[], respond: Respond, signal: AbortSignal): Promise<PublishOutcome[]> {
    const blockedKeys = new Set<string>();
    const outcomes: PublishOutcome[] = [];
    for (const event of batch) {
      const key = orderedKey(event);
      const isHeld = signal.aborted || (key !== undefined && blockedKeys.has(key));
      const outcome = isHeld ? held : await this.#ask(event, respond, signal);
      if (key !== undefined && outcome.kind !== 'delivered') blockedKeys.add(key);
      outcomes.push(outcome);
    }
    return outcomes;
  }

  async #ask(event: OutgoingEvent, respond: Respond, signal: AbortSignal): Promise<PublishOutcome> {
    this.#received.push(event);
    const outcome = await untilAborted(Promise.resolve(respond(event, event.attempt)), signal, unanswered);
    if (outcome.kind === 'delivered') {
      this.#accepted.push(event);
      this.#wakeWaiting();
    }
    return outcome;
  }

  #wakeWaiting(): void {
    for (const { count, reached } of this.#waiting) {
      if (this.#accepted.length >= count) reached.abort();
    }
  }
}

type Respond = NonNullable<MemoryTransportOptions['respond']>;

interface Waiting {
  readonly count: number;
  readonly reached: AbortController;
}

/** An answer that never comes must not outlive the call. */
function unanswered(): PublishOutcome {
  return { kind: 'retry', error: 'the call was aborted before the answer came.' };
}
