import {
  delivered,
  held,
  type OutgoingEvent,
  type PublishOutcome,
  type Transport,
  type TransportCapabilities,
} from '../../libs/outbox/src/transports/index.js';
import { checkPublicationBegins } from './check-publish.js';
import type { Ledger } from './ledger.js';
import { never } from './network.js';
import type { Handouts } from './remote-store.js';
import type { SimulatedDestination } from './simulated-destination.js';
import type { SimulatedDispatcher } from './simulated-dispatcher.js';
import type { Trace } from './trace.js';
import type { VirtualTime } from './virtual-time.js';

export interface SimulatedTransportParts {
  readonly process: SimulatedDispatcher;
  readonly destination: SimulatedDestination;
  /** This process never can connect. */
  readonly isCutOff: boolean;
  readonly time: VirtualTime;
  readonly ledger: Ledger;
  readonly handouts: Handouts;
  readonly trace: Trace;
  readonly complain: (problem: string) => void;
}

interface Call {
  readonly startedAt: number;
  readonly signal: AbortSignal;
  /** It was rejected; a transport starts nothing more then. */
  isRejected: boolean;
}

/** The client of the destination in one process: keeps what its capabilities promise, and nothing more. */
export class SimulatedTransport implements Transport {
  constructor(
    readonly capabilities: TransportCapabilities,
    private readonly parts: SimulatedTransportParts,
  ) {}

  /** Connecting takes its time, and may fail or never end while things go wrong. */
  async connect(): Promise<void> {
    const { destination, process, isCutOff } = this.parts;
    await destination.welcome(process, { isCutOff });
  }

  async publish(batch: readonly OutgoingEvent[], signal: AbortSignal): Promise<readonly PublishOutcome[]> {
    const call: Call = { startedAt: this.parts.time.now, signal, isRejected: false };
    const outcomes = this.capabilities.keepsOrderPerKey
      ? this.startInOrder(batch, call)
      : batch.map((event) => this.publishOne(event, call));
    try {
      return await Promise.all(outcomes);
    } catch (error) {
      call.isRejected = true;
      throw error;
    }
  }

  /** Keys side by side, and nothing of a key after what was not delivered. */
  private startInOrder(batch: readonly OutgoingEvent[], call: Call): Promise<PublishOutcome>[] {
    const lastOfKey = new Map<string, Promise<PublishOutcome>>();
    return batch.map((event) => {
      const { aggregateId, sequence, id } = event.envelope;
      const key = sequence === undefined ? id : aggregateId;
      const before = lastOfKey.get(key) ?? Promise.resolve<PublishOutcome>(delivered);
      const outcome = before.then((last) => {
        const mayStart = last.kind === 'delivered' && !call.signal.aborted && !call.isRejected;
        return mayStart ? this.publishOne(event, call) : held;
      });
      lastOfKey.set(key, outcome);
      return outcome;
    });
  }

  private async publishOne(event: OutgoingEvent, { startedAt, signal }: Call): Promise<PublishOutcome> {
    const { process, destination, handouts, ledger, trace, complain } = this.parts;
    if (process.isDead) return never();
    const handout = handouts.get(event.envelope);
    if (handout === undefined) throw new Error('an event was published that was not claimed');
    const { record, entry } = handout;
    const isCurrent = checkPublicationBegins(ledger, { record, entry, startedAt, complain });
    const under = `${record.claim.token}${isCurrent ? '' : ' (stale)'}`;
    trace.note(process.name, `publishes ${entry.id} under ${under}`);
    if (destination.isKilledBy(entry)) {
      process.crash();
      ledger.counts.crashes += 1;
      return never();
    }
    const outcome = await destination.send(process, entry, signal);
    if (outcome.kind === 'delivered') record.acknowledged.add(entry.id);
    return outcome;
  }
}
