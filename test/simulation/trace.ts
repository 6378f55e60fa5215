import type { VirtualTime } from './virtual-time.js';

/** What happened in a run, a line each, for the person who reads a failure. */
export class Trace {
  readonly lines: string[] = [];

  constructor(private readonly time: VirtualTime) {}

  note(who: string, what: string): void {
    this.lines.push(`${this.time.now.toFixed(1).padStart(9)} ms  ${who.padEnd(8)} ${what}`);
  }
}
