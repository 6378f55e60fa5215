import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const KEPT_LINES = 30;
/** Long, because several start at once, also on a machine that has other things to do. */
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 8000;

/** A Node program in a process of its own. Its output is kept for the case that something goes wrong. */
export class Child {
  readonly ended: Promise<Ending>;
  private readonly lines: string[] = [];
  private readonly process: ChildProcessByStdio<null, Readable, Readable>;
  private onLine: (line: string) => void = () => undefined;

  constructor(
    readonly name: string,
    program: URL,
    environment: Readonly<Record<string, string>>,
  ) {
    this.process = spawn(process.execPath, [fileURLToPath(program)], {
      env: { ...process.env, NO_COLOR: '1', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.ended = once(this.process, 'close').then(([code, signal]) => ({ code, signal }));
    for (const stream of [this.process.stdout, this.process.stderr]) {
      createInterface(stream).on('line', (line) => this.keep(line));
    }
  }

  get pid(): number {
    return this.process.pid ?? Number.NaN;
  }

  /** Waits for a line of its output. @throws Error with its last lines when it ends, or takes too long, before. */
  async started(pattern: RegExp): Promise<RegExpExecArray> {
    const found = new Promise<RegExpExecArray>((resolve) => {
      const look = (line: string): void => {
        const match = pattern.exec(line);
        if (match !== null) resolve(match);
      };
      this.onLine = look;
      for (const line of this.lines) look(line);
    });
    const failed = this.ended.then((ending) => this.fail(`ended (${describeEnding(ending)}) while it started`));
    return Promise.race([found, failed, this.timeout(START_TIMEOUT_MS, 'did not start in time')]);
  }

  /** @throws Error with its last lines when it does not end in time, or otherwise than expected. */
  async endedAs(expected: Partial<Ending>): Promise<void> {
    const ending = await Promise.race([this.ended, this.timeout(START_TIMEOUT_MS, 'did not end in time')]);
    const isExpected = Object.entries(expected).every(([key, value]) => ending[key as keyof Ending] === value);
    if (!isExpected) this.fail(`ended otherwise than expected (${describeEnding(ending)})`);
  }

  /** Asks it to end, and makes it when it does not. */
  async stop(): Promise<void> {
    this.process.kill('SIGTERM');
    const timer = setTimeout(() => this.process.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await this.ended;
    clearTimeout(timer);
  }

  private keep(line: string): void {
    this.lines.push(line);
    if (this.lines.length > KEPT_LINES) this.lines.shift();
    this.onLine(line);
  }

  private async timeout(ms: number, problem: string): Promise<never> {
    await wait(ms, undefined, { ref: false });
    return this.fail(problem);
  }

  private fail(problem: string): never {
    throw new Error([`${this.name} ${problem}. Its last lines:`, ...this.lines].join('\n   '));
  }
}

function describeEnding({ code, signal }: Ending): string {
  return signal ?? `exit code ${code}`;
}
