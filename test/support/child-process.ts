import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

export interface ChildOptions {
  readonly args?: readonly string[];
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

const alive = new Set<ChildProgram>();

/** A test that fails midway must leave no process behind; neither must a worker that is ended from outside. */
export async function endAllChildren(): Promise<void> {
  await Promise.all([...alive].map((child) => child.kill('SIGKILL')));
}
process.once('exit', () => {
  for (const child of alive) child.endGroup();
});

/** Starts a Node program from its compiled file; see test/processes. */
export function startChild(file: string | URL, options: ChildOptions = {}): ChildProgram {
  const child = spawn(process.execPath, [file instanceof URL ? file.pathname : file, ...(options.args ?? [])], {
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a process group of its own, so that what the program started can be ended with it
  });
  return new ChildProgram(child);
}

/** One started program and all it wrote. It ends with the test file at the latest. */
export class ChildProgram {
  /** Lines of standard output and standard error, in the order in which they arrived. */
  readonly lines: string[] = [];
  /** Resolves with the exit code, or with undefined when a signal ended the program; its output is complete then. */
  readonly exited: Promise<number | undefined>;
  readonly pid: number;

  private readonly lineListeners = new Set<() => void>();
  private hasExited = false;

  constructor(private readonly child: ChildProcessByStdio<null, Readable, Readable>) {
    this.pid = child.pid ?? Number.NaN;
    alive.add(this);
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on('line', (line) => {
        this.lines.push(line);
        this.notify();
      });
    }
    this.exited = once(child, 'close').then(([code]) => {
      this.hasExited = true;
      alive.delete(this);
      this.endGroup();
      this.notify();
      return typeof code === 'number' ? code : undefined;
    });
  }

  /** Undefined while the program runs, and when a signal ended it. */
  get exitCode(): number | undefined {
    return this.child.exitCode ?? undefined;
  }

  /** The first line that matches, also one that came before the call. Fails when the program ends without one. */
  waitForLine(pattern: RegExp, timeoutMs = 15_000): Promise<string> {
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void): void => {
        clearTimeout(timer);
        this.lineListeners.delete(look);
        settle();
      };
      const fail = (what: string): void =>
        finish(() => reject(new Error(`${what}, no line matches ${pattern}. Output:\n${this.lines.join('\n')}`)));
      const look = (): void => {
        const line = this.lines.find((candidate) => pattern.test(candidate));
        if (line !== undefined) finish(() => resolve(line));
        else if (this.hasExited) fail('The program has ended');
      };
      const timer = setTimeout(() => fail(`After ${timeoutMs} ms`), timeoutMs);
      this.lineListeners.add(look);
      look();
    });
  }

  /** Sends the signal and waits until the program is gone. */
  async kill(signal: NodeJS.Signals): Promise<void> {
    this.child.kill(signal);
    await this.exited;
  }

  /** What the program has started and not ended, as `nest start` does when it is killed, must not live on. */
  endGroup(): void {
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch {
      // There is nobody left, as it should be.
    }
  }

  private notify(): void {
    for (const listener of [...this.lineListeners]) listener();
  }
}
