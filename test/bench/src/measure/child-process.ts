import { fork } from 'node:child_process';

export interface Child {
  /** The next message that it sends. Rejects when the process ends without one. */
  next(): Promise<unknown>;
  /** Disconnects it, and resolves when it is gone. */
  stop(): Promise<void>;
}

/**
 * Forks one of the programs in `processes`, without the arguments of this one.
 *
 * @param program Name of its file, without the ending.
 */
export function startProcess(program: string, args: readonly string[] = []): Child {
  const file = new URL(`../processes/${program}.js`, import.meta.url);
  const child = fork(file, args, { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    next: () =>
      Promise.race([
        new Promise((resolve) => child.once('message', resolve)),
        ended.then(() => {
          throw new Error(`the process "${program}" ended without a message`);
        }),
      ]),
    stop: async () => {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}
