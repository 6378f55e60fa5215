import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { BenchDatabase } from '../measure/bench-server.js';
import type { Moments } from '../measure/latencies.js';
import { type ArrivalMessage, COLLECT, type WatchMode } from '../processes/arrival-messages.js';

/** Another process on the same database which notes what arrives there. */
export class SecondProcess {
  private constructor(private readonly child: ChildProcess) {}

  /** Resolves when it listens. */
  static async start(database: BenchDatabase, mode: WatchMode): Promise<SecondProcess> {
    const program = new URL('../processes/watch-arrivals.js', import.meta.url);
    const child = fork(program, [database.url, mode], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const second = new SecondProcess(child);
    await second.next('ready');
    return second;
  }

  /** What has arrived since it was asked last. */
  async collect(): Promise<Moments> {
    const arrived = this.next('arrived');
    this.child.send(COLLECT);
    const message = await arrived;
    return message.kind === 'arrived' ? message.moments : [];
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.disconnect();
    await ended;
  }

  private next(kind: ArrivalMessage['kind']): Promise<ArrivalMessage> {
    return new Promise((resolve, reject) => {
      const left = (): void => reject(new Error('the second process ended'));
      this.child.once('exit', left);
      this.child.once('message', (message: ArrivalMessage) => {
        this.child.off('exit', left);
        if (message.kind === kind) resolve(message);
        else reject(new Error(`the second process said ${message.kind} instead of ${kind}`));
      });
    });
  }
}
