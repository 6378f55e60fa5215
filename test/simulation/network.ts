import type { Scenario } from './scenario.js';
import type { SeededRandom } from './seeded-random.js';
import type { Owner, VirtualTime } from './virtual-time.js';

/** Settled by nobody: what a process that is dead waits for. */
export const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

/** What stands between the processes and the database, with the faults of the run. */
export class Network {
  private isCalm = false;

  constructor(
    private readonly time: VirtualTime,
    private readonly random: SeededRandom,
    private readonly scenario: Scenario,
  ) {}

  /** From now on nothing fails and everything is quick. */
  calm(): void {
    this.isCalm = true;
  }

  /**
   * One call: the statement travels, takes effect or fails, and the answer travels back or is lost. A process that dies
   * meanwhile may or may not have been heard.
   */
  async call<T>(process: Owner, operation: () => Promise<T>): Promise<T> {
    if (process.isDead) return never();
    await this.time.passed(this.latencyMs());
    if (process.isDead && this.random.chance(0.5)) return never();
    if (this.isOut() || this.happens(this.scenario.faults.failedStatement)) {
      await this.time.noticed(process, this.latencyMs());
      throw new Error('the connection was lost');
    }
    const answer = await operation();
    const isLost = this.happens(this.scenario.faults.lostAnswer);
    await this.time.noticed(process, this.latencyMs());
    if (isLost) throw new Error('the connection was lost before the answer came');
    return answer;
  }

  happens(probability: number): boolean {
    return !this.isCalm && this.random.chance(probability);
  }

  private latencyMs(): number {
    const { slowCallMs } = this.scenario.faults;
    return this.happens(0.1) ? this.random.next() * slowCallMs : 0.2 + this.random.next() * 3;
  }

  private isOut(): boolean {
    const { now } = this.time;
    return !this.isCalm && this.scenario.faults.outages.some(({ from, until }) => now >= from && now < until);
  }
}
