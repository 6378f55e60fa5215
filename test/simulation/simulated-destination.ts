import { delivered, type PublishOutcome } from '../../libs/outbox/src/transports/index.js';
import type { Ledger, LedgerEntry } from './ledger.js';
import { never } from './network.js';
import type { Answer, Scenario } from './scenario.js';
import type { SeededRandom } from './seeded-random.js';
import type { Trace } from './trace.js';
import type { Owner, VirtualTime } from './virtual-time.js';

export interface SimulatedDestinationParts {
  readonly time: VirtualTime;
  readonly random: SeededRandom;
  readonly scenario: Scenario;
  readonly ledger: Ledger;
  readonly trace: Trace;
  /** Ids of deliveries that end the process which publishes them. */
  readonly poisonous: ReadonlySet<string>;
  readonly complain: (problem: string) => void;
}

/** Where events arrive. It answers as the scenario says, and remembers what arrived. */
export class SimulatedDestination {
  private isCalm = false;

  constructor(private readonly parts: SimulatedDestinationParts) {}

  /** From now on it takes in everything at once. */
  calm(): void {
    this.isCalm = true;
  }

  isKilledBy({ id }: LedgerEntry): boolean {
    return !this.isCalm && this.parts.poisonous.has(id);
  }

  /** Lets a process connect, unless it is down. */
  async welcome(process: Owner, { isCutOff }: { readonly isCutOff: boolean }): Promise<void> {
    const { time, random, scenario, trace } = this.parts;
    const drawn = random.weighted(scenario.faults.connections);
    const kind = isCutOff ? 'fails' : this.isCalm ? 'connects' : drawn;
    if (kind !== 'connects' || this.isDown()) trace.note('', `a connection ${kind}`);
    // Even a connection that hangs is given up some time, by the operating system.
    await time.noticed(process, kind === 'hangs' ? 3 * scenario.destination.leaseMs : 1 + random.next() * 20);
    if (kind !== 'connects' || this.isDown()) throw new Error('connection refused');
  }

  async send(process: Owner, entry: LedgerEntry, signal: AbortSignal): Promise<PublishOutcome> {
    return Promise.race([this.answer(process, entry), this.interruption(process, signal)]);
  }

  private async answer(process: Owner, entry: LedgerEntry): Promise<PublishOutcome> {
    const { time, random, scenario, trace } = this.parts;
    const answer = this.drawAnswer();
    const slowMs = random.next() * 2 * scenario.destination.leaseMs;
    await time.passed(answer === 'slow' ? slowMs : 0.5 + random.next() * 10);
    if (answer === 'accept' || answer === 'slow' || answer === 'unknown') this.arrive(entry);
    // A call that hangs may have arrived all the same, and much later.
    if (answer === 'hang' && random.chance(0.5)) void time.passed(slowMs).then(() => this.arrive(entry));
    if (answer !== 'accept') trace.note('', `${entry.id} is answered with: ${answer}`);
    if (answer === 'hang') return never();
    await time.noticed(process, 0.5 + random.next() * 5);
    switch (answer) {
      case 'throw':
        throw new Error('thrown by the transport');
      case 'retry':
      case 'unknown':
        return { kind: 'retry', error: 'refused for now' };
      case 'defer':
        return { kind: 'defer', reason: 'too early', delayMs: random.between(0, 400) };
      case 'dead':
        return { kind: 'dead', error: 'refused for good' };
      case 'unreachable':
        return { kind: 'unreachable', error: 'no route' };
      default:
        return delivered;
    }
  }

  private arrive(entry: LedgerEntry): void {
    const { ledger, trace, complain } = this.parts;
    entry.arrivals += 1;
    trace.note('', `${entry.id} arrives${entry.arrivals > 1 ? ' again' : ''}`);
    if (entry.arrivals > 1) ledger.counts.repeatedArrivals += 1;
    else if (!entry.isPassed && !entry.isDiscarded) {
      const missing = ledger.aheadOf(entry).find(({ arrivals }) => arrivals === 0);
      if (missing !== undefined) complain(`${entry.id} arrived before ${missing.id} of its key ever did`);
    }
  }

  /** Most transports heed their signal; the others are given up by the dispatcher. */
  private async interruption(process: Owner, signal: AbortSignal): Promise<PublishOutcome> {
    const { time, random } = this.parts;
    if (random.chance(0.3)) return never();
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await time.noticed(process, random.next() * 50);
    return { kind: 'retry', error: 'interrupted' };
  }

  private drawAnswer(): Answer {
    const drawn = this.parts.random.weighted(this.parts.scenario.faults.answers);
    if (this.isCalm) return 'accept';
    return this.isDown() ? 'unreachable' : drawn;
  }

  private isDown(): boolean {
    const { scenario, time } = this.parts;
    return !this.isCalm && scenario.faults.downtimes.some(({ from, until }) => time.now >= from && time.now < until);
  }
}
