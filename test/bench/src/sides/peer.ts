import { setTimeout } from 'node:timers/promises';
import type { BenchDatabase } from '../measure/bench-server.js';
import { FILLER } from './bench-events.js';

/** Another project's queue in the database of a run, set up once, then filled and drained again and again. */
export interface Peer {
  /** Leaves this many events waiting and nothing else, in tables that PostgreSQL has just looked at. Not timed. */
  fill(events: number): Promise<void>;
  /**
   * Handles all of them by a handler that does nothing.
   *
   * @returns events per second, from the first event handled until the database knows of the last one: that a peer
   * takes time to start is not held against it.
   */
  drain(events: number): Promise<number>;
  close(): Promise<void>;
}

/** What all peers carry, as much as our own events. */
export function payloadOf(number: number): { benchId: string; number: number; filler: string } {
  return { benchId: String(number), number, filler: FILLER };
}

/** Splits the numbers 1 to `events`, for bulk inserts through a peer's own interface. */
export function* chunksOf(events: number, size: number): Generator<number[]> {
  for (let first = 1; first <= events; first += size)
    yield Array.from({ length: Math.min(size, events - first + 1) }, (_, index) => first + index);
}

/** Counts what a peer's handler sees and takes the time. */
export class HandledCount {
  private count = 0;
  private startedAt = 0;
  private sawAll: () => void = () => undefined;
  private readonly all = new Promise<void>((resolve) => {
    this.sawAll = resolve;
  });

  constructor(private readonly events: number) {}

  readonly add = (): void => {
    if (this.count === 0) this.startedAt = performance.now();
    this.count += 1;
    if (this.count === this.events) this.sawAll();
  };

  /** Waits for the last event, then for `leftSql` (one column, `is_left`) to say that the database knows of it. */
  async perSecond(database: BenchDatabase, leftSql: string): Promise<number> {
    await this.all;
    while ((await database.query<{ is_left: boolean }>(leftSql))[0]?.is_left !== false) await setTimeout(2);
    return this.events / ((performance.now() - this.startedAt) / 1000);
  }
}
