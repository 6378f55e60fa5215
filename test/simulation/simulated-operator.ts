import type { DeadLetterStore } from '../../libs/outbox/src/store/index.js';
import { byHand } from '../support/by-hand.js';
import type { CheckedStore } from './checked-store.js';
import type { Ledger } from './ledger.js';
import type { SeededRandom } from './seeded-random.js';
import type { Trace } from './trace.js';

export interface SimulatedOperatorParts {
  readonly letters: DeadLetterStore;
  readonly database: CheckedStore;
  readonly ledger: Ledger;
  readonly random: SeededRandom;
  readonly trace: Trace;
}

/** The person who decides what becomes of dead letters. */
export class SimulatedOperator {
  constructor(private readonly parts: SimulatedOperatorParts) {}

  /** Decides about some of them: redrives, discards, or lets their followers pass. */
  decide(): void {
    for (const id of this.parts.random.some(this.deadIds())) {
      const kind = this.parts.random.weighted({ redrive: 4, discard: 2, unblock: 2 });
      this[kind](id);
    }
  }

  /** Leaves none. */
  decideAboutAll(): void {
    for (const id of this.deadIds()) this[this.parts.random.weighted({ redrive: 4, discard: 1 })](id);
  }

  private deadIds(): string[] {
    return [...this.parts.ledger.entries.values()].filter(({ state }) => state === 'dead').map(({ id }) => id);
  }

  private redrive(id: string): void {
    const { letters, ledger, trace } = this.parts;
    trace.note('operator', `redrives ${id}`);
    void letters.redrive({ ids: [id] }, byHand);
    Object.assign(ledger.entry(id), { state: 'pending', attempts: 0, isOpen: false });
    ledger.counts.redriven += 1;
  }

  private discard(id: string): void {
    const { letters, ledger, trace } = this.parts;
    trace.note('operator', `discards ${id}`);
    void letters.discard({ ids: [id] }, byHand);
    Object.assign(ledger.entry(id), { state: 'gone', isDiscarded: true });
  }

  private unblock(id: string): void {
    const { database, trace } = this.parts;
    trace.note('operator', `lets the followers of ${id} pass`);
    void database.letPass([id]);
  }
}
