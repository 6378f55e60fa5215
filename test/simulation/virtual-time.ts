import { AsyncLocalStorage } from 'node:async_hooks';

/** A simulated process: its timers do not fire while it is stalled, and never again when it is dead. */
export interface Owner {
  readonly isDead: boolean;
  readonly stalledUntil: number;
}

interface Timer {
  at: number;
  order: number;
  readonly callback: () => void;
  readonly owner: Owner | undefined;
  readonly everyMs: number | undefined;
  isCleared: boolean;
}

/**
 * Time that passes only when the simulation says so. While installed, it is behind `setTimeout`, `setInterval` and
 * `performance.now` of the code under test, and knows which simulated process set each timer. (Fake timers of a test
 * library do not know that, and need a real millisecond for each step.)
 */
export class VirtualTime {
  now = 0;
  private readonly owners = new AsyncLocalStorage<Owner | undefined>();
  private readonly timers: Timer[] = [];
  private lastOrder = 0;

  /** Runs `work`, and whatever it starts, as part of a process. */
  as<T>(owner: Owner, work: () => T): T {
    return this.owners.run(owner, work);
  }

  /** For what happens outside every process: the network, the database, the world. */
  after(ms: number, callback: () => void): void {
    this.add(ms, callback, undefined);
  }

  /** Resolves after `ms`, whatever becomes of the process that waits. */
  passed(ms: number): Promise<void> {
    return new Promise((resolve) => this.add(ms, resolve, undefined));
  }

  /** Resolves after `ms`, as soon as the process can notice it; never when it is dead. */
  noticed(owner: Owner, ms: number): Promise<void> {
    return new Promise((resolve) => this.add(ms, resolve, owner));
  }

  /** Fires the next timer and lets all that follows from it happen. */
  async step(): Promise<void> {
    const timer = this.timers.pop();
    if (timer === undefined) throw new Error('nothing is ever going to happen any more');
    this.now = Math.max(this.now, timer.at);
    if (timer.isCleared || timer.owner?.isDead) return;
    if (timer.owner !== undefined && timer.owner.stalledUntil > this.now) {
      this.insert(timer, timer.owner.stalledUntil);
      return;
    }
    if (timer.everyMs !== undefined) this.insert(timer, this.now + timer.everyMs);
    this.owners.run(timer.owner, timer.callback);
    // Node empties the queue of settled promises, whatever they add to it, before it comes to the next tick.
    await new Promise<void>((resolve) => process.nextTick(resolve));
  }

  /** @returns puts the real functions back. */
  install(): () => void {
    const { setTimeout, setInterval, clearTimeout, clearInterval } = globalThis;
    const set = (callback: () => void, ms = 0): unknown => this.add(ms, callback, this.owners.getStore());
    const repeat = (callback: () => void, ms = 1): unknown => this.add(ms, callback, this.owners.getStore(), ms);
    const clear = (timer: Timer | undefined): void => {
      if (timer !== undefined) timer.isCleared = true;
    };
    Object.assign(globalThis, { setTimeout: set, setInterval: repeat, clearTimeout: clear, clearInterval: clear });
    // `now` is inherited, so an own property hides it and deleting that one brings it back.
    Object.defineProperty(performance, 'now', { value: () => this.now, configurable: true });
    return () => {
      Object.assign(globalThis, { setTimeout, setInterval, clearTimeout, clearInterval });
      Reflect.deleteProperty(performance, 'now');
      // Else every promise of the process would go on being followed, for each run that ever was.
      this.owners.disable();
    };
  }

  private add(ms: number, callback: () => void, owner: Owner | undefined, everyMs?: number): Timer {
    const timer: Timer = { at: 0, order: 0, callback, owner, everyMs, isCleared: false };
    this.insert(timer, this.now + Math.max(0, ms));
    return timer;
  }

  private insert(timer: Timer, at: number): void {
    this.lastOrder += 1;
    Object.assign(timer, { at, order: this.lastOrder });
    let place = this.timers.length;
    // Latest first, so that the next one is taken from the end.
    while (place > 0 && isBefore(this.timers[place - 1], timer)) place -= 1;
    this.timers.splice(place, 0, timer);
  }
}

function isBefore(one: Timer | undefined, other: Timer): boolean {
  return one !== undefined && (one.at < other.at || (one.at === other.at && one.order < other.order));
}
