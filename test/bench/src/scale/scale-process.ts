import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ScaleCommand, ScaleReport, ScaleSettings } from '../processes/scale-protocol.js';

const PROGRAM = fileURLToPath(new URL('../processes/scale-dispatcher.js', import.meta.url));

/** A dispatcher process, as its parent sees it. */
export class ScaleProcess {
  private readonly listeners = new Set<(report: ScaleReport) => void>();

  private constructor(
    readonly name: string,
    private readonly child: ChildProcess,
  ) {
    child.on('message', (report) => {
      for (const listener of [...this.listeners]) listener(report as ScaleReport); // nobody else has the channel
    });
  }

  /** Resolves when it is ready to dispatch, or already does. */
  static async start(settings: ScaleSettings): Promise<ScaleProcess> {
    const child = fork(PROGRAM, [JSON.stringify(settings)], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const process = new ScaleProcess(settings.instanceName, child);
    await process.next('ready');
    return process;
  }

  on(listener: (report: ScaleReport) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** The next report of that kind. @throws Error when the process ends before. */
  next<Kind extends ScaleReport['report']>(kind: Kind): Promise<Extract<ScaleReport, { report: Kind }>> {
    return new Promise((resolve, reject) => {
      const fail = (): void => reject(new Error(`dispatcher process ${this.name} ended by itself`));
      this.child.once('exit', fail);
      const leave = this.on((report) => {
        if (report.report !== kind) return;
        leave();
        this.child.off('exit', fail);
        resolve(report as Extract<ScaleReport, { report: Kind }>); // its kind was just looked at
      });
    });
  }

  /** Tells nobody any more. */
  forget(): void {
    this.listeners.clear();
  }

  tell(command: ScaleCommand): void {
    this.child.send(command);
  }

  /** Ends it at once, as a crash would. */
  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
  }
}
