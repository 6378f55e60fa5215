import type { ResolvedDestination } from '../config/index.js';
import type { DestinationTelemetry } from '../telemetry/index.js';
import { held, type OutgoingEvent } from '../transports/index.js';
import { type CallOutcome, callTransport } from './publish-call.js';

/** One readable delivery of a claim. */
export interface Sendable {
  readonly id: string;
  readonly orderingKey: string | undefined;
  readonly ageMs: number;
  readonly event: OutgoingEvent;
}

/** Says, before each call, whether the claim may still be worked on, and interrupts the calls that run when not. */
export interface SendPermit {
  readonly signal: AbortSignal;
  mayStart(): boolean;
}

const NOT_TRIED: CallOutcome = { outcome: held, isUnclassified: false };

/**
 * Publishes a batch and answers an outcome for each delivery. Keeps the order per key whatever the transport can do:
 * one event of a key at a time, and none after one that was not delivered. When the destination turns out to be
 * unreachable, nothing more is tried.
 */
export async function publishBatch(
  batch: readonly Sendable[],
  destination: ResolvedDestination,
  permit: SendPermit,
  telemetry: DestinationTelemetry,
): Promise<ReadonlyMap<string, CallOutcome>> {
  const outcomes = new Map<string, CallOutcome>();
  const run = new BatchRun(destination, permit, outcomes, telemetry);
  const { batch: takesBatches, keepsOrderPerKey } = destination.transport.capabilities;
  if (!takesBatches) await run.oneByOne(chainsOf(batch));
  else if (keepsOrderPerKey) await run.call(batch);
  else await run.inRounds(chainsOf(batch));
  for (const { id } of batch) if (!outcomes.has(id)) outcomes.set(id, NOT_TRIED);
  return outcomes;
}

class BatchRun {
  private isUnreachable = false;

  constructor(
    private readonly destination: ResolvedDestination,
    private readonly permit: SendPermit,
    private readonly outcomes: Map<string, CallOutcome>,
    private readonly telemetry: DestinationTelemetry,
  ) {}

  /** Keys side by side up to the destination's concurrency, the events of one key one after the other. */
  async oneByOne(chains: readonly (readonly Sendable[])[]): Promise<void> {
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let chain = chains[next++]; chain !== undefined; chain = chains[next++]) await this.sendChain(chain);
    };
    await Promise.all(Array.from({ length: Math.min(this.destination.concurrency, chains.length) }, worker));
  }

  /** The n-th events of all keys together, for transports that promise no order within a call. */
  async inRounds(chains: readonly (readonly Sendable[])[]): Promise<void> {
    let open = chains;
    for (let round = 0; open.length > 0; round += 1) {
      const current = open.flatMap((chain) => chain.slice(round, round + 1));
      await this.call(current);
      open = open.filter((chain) => chain.length > round + 1 && this.isDelivered(chain[round]));
    }
  }

  async call(sendables: readonly Sendable[]): Promise<void> {
    if (sendables.length === 0 || this.isUnreachable || !this.permit.mayStart()) return;
    const { transport, publishTimeoutMs } = this.destination;
    const events = sendables.map(({ event }) => event);
    const answers = await this.telemetry.publishing(sendables, () =>
      callTransport(transport, events, publishTimeoutMs, this.permit.signal),
    );
    for (const [index, { id }] of sendables.entries()) {
      const answer = answers[index] ?? NOT_TRIED;
      this.outcomes.set(id, answer);
      if (answer.outcome.kind === 'unreachable') this.isUnreachable = true;
    }
  }

  private async sendChain(chain: readonly Sendable[]): Promise<void> {
    for (const sendable of chain) {
      await this.call([sendable]);
      if (!this.isDelivered(sendable)) return;
    }
  }

  private isDelivered(sendable: Sendable | undefined): boolean {
    return sendable !== undefined && this.outcomes.get(sendable.id)?.outcome.kind === 'delivered';
  }
}

/** The batch by key, in order; each unordered event is a chain of its own. */
function chainsOf(batch: readonly Sendable[]): Sendable[][] {
  const byKey = new Map<string, Sendable[]>();
  for (const sendable of batch) {
    const key = sendable.orderingKey === undefined ? `unordered:${sendable.id}` : sendable.orderingKey;
    const chain = byKey.get(key);
    if (chain === undefined) byKey.set(key, [sendable]);
    else chain.push(sendable);
  }
  return [...byKey.values()];
}
