import type { OutgoingEvent } from 'nestjs-transactional-outbox';
import type { Claim, Finalization } from '../../libs/outbox/src/store/index.js';
import type { StoreWitness } from './unreliable-store.js';

interface Publication {
  readonly token: string;
  readonly key: string;
  readonly sequence: bigint;
  hasEnded: boolean;
}

/** What one key has seen. Sequence numbers are from 1 without gaps. */
class KeyHistory {
  /** Settled for the queue: somebody has set out to write that it was delivered, or that it is dead and passed by. */
  readonly settled = new Set<bigint>();
  /** Delivered under a token, not yet settled. */
  readonly deliveredUnder = new Map<string, Set<bigint>>();
  readonly publications: Publication[] = [];
  readonly firstEffects: bigint[] = [];
  /** Given up, so that the later ones went on: a send that was still on its way may come after them. */
  readonly passedBy = new Set<bigint>();
  newestToken = 0n;
}

/**
 * Watches dispatchers from between them and their store and transport, and notes every broken promise about order. Time
 * is the order of calls in this process: what was not even sent off can have had no effect.
 */
export class RaceRecord implements StoreWitness {
  readonly violations: string[] = [];
  readonly effects = new Map<string, number>();
  private readonly keys = new Map<string, KeyHistory>();
  /** Delivery id to key and sequence. */
  private readonly places = new Map<string, { key: string; sequence: bigint }>();

  claimed(claim: Claim): void {
    for (const { id, envelope } of claim.deliveries) {
      if (envelope?.sequence === undefined) continue;
      this.places.set(id, { key: envelope.aggregateId, sequence: envelope.sequence });
      const history = this.historyOf(envelope.aggregateId);
      if (BigInt(claim.token) > history.newestToken) history.newestToken = BigInt(claim.token);
    }
  }

  finalizing(_claim: Claim, { delivered, dead }: Finalization): void {
    this.settle(delivered);
    this.passBy(dead.filter(({ blocksKey }) => !blocksKey).map(({ id }) => id));
  }

  unblocking(ids: readonly string[]): void {
    this.passBy(ids);
  }

  /** @returns to be called when the publish is over, whatever came of it. */
  publishing(token: string, { envelope }: OutgoingEvent): () => void {
    const { sequence, aggregateId: key } = envelope;
    if (sequence === undefined) return () => undefined;
    const history = this.historyOf(key);
    const publication: Publication = { token, key, sequence, hasEnded: false };
    this.checkStart(history, publication);
    history.publications.push(publication);
    return () => {
      publication.hasEnded = true;
    };
  }

  /** The destination has the event, whether the dispatcher learns of it or not. */
  effect({ envelope }: OutgoingEvent): void {
    const { id, sequence, aggregateId } = envelope;
    const before = this.effects.get(id) ?? 0;
    this.effects.set(id, before + 1);
    if (sequence !== undefined && before === 0) this.historyOf(aggregateId).firstEffects.push(sequence);
  }

  acknowledged(token: string, { envelope }: OutgoingEvent): void {
    if (envelope.sequence === undefined) return;
    const { deliveredUnder } = this.historyOf(envelope.aggregateId);
    const known = deliveredUnder.get(token) ?? new Set();
    deliveredUnder.set(token, known.add(envelope.sequence));
  }

  /** Keys whose events reached the destination for the first time in another order than their own. */
  keysOutOfOrder(): string[] {
    return [...this.keys].flatMap(([key, { firstEffects, passedBy }]) => {
      const inTurn = firstEffects.filter((sequence) => !passedBy.has(sequence));
      const isOrdered = inTurn.every((sequence, index) => sequence > (inTurn[index - 1] ?? 0n));
      return isOrdered ? [] : [`${key}: ${inTurn.join(' ')}`];
    });
  }

  private checkStart(history: KeyHistory, { token, key, sequence }: Publication): void {
    const what = `${key} ${sequence} under token ${token}`;
    if (BigInt(token) < history.newestToken) {
      this.violations.push(`${what} was started after token ${history.newestToken} had taken the key over`);
    }
    const sameClaim = history.deliveredUnder.get(token);
    for (let earlier = 1n; earlier < sequence; earlier += 1n) {
      if (history.settled.has(earlier) || sameClaim?.has(earlier)) continue;
      this.violations.push(`${what} was started before ${earlier} was delivered or given up`);
      break;
    }
    const beside = history.publications.find((other) => !other.hasEnded && other.token === token);
    if (beside !== undefined) this.violations.push(`${what} was started beside ${beside.sequence}`);
  }

  private settle(ids: readonly string[]): void {
    for (const { key, sequence } of this.placesOf(ids)) this.historyOf(key).settled.add(sequence);
  }

  private passBy(ids: readonly string[]): void {
    this.settle(ids);
    for (const { key, sequence } of this.placesOf(ids)) this.historyOf(key).passedBy.add(sequence);
  }

  private placesOf(ids: readonly string[]): { key: string; sequence: bigint }[] {
    return ids.flatMap((id) => this.places.get(id) ?? []);
  }

  private historyOf(key: string): KeyHistory {
    const known = this.keys.get(key) ?? new KeyHistory();
    this.keys.set(key, known);
    return known;
  }
}
