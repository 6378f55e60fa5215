import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { ChildProgram } from '../support/child-process.js';

/** Stands where a server was, and ends every connection at once. */
export interface ClosedDoor {
  /** How many connections were tried so far. */
  readonly knocks: number;
  /** Resolves when that many were; rejects when the program that should knock has ended. */
  untilKnocks(count: number, by: ChildProgram): Promise<void>;
  open(): Promise<void>;
}

export async function closeDoor(port: number): Promise<ClosedDoor> {
  let knocks = 0;
  const server = createServer((socket: Socket) => {
    knocks += 1;
    socket.on('error', () => undefined); // the other side may be gone first
    socket.destroy();
    server.emit('knock');
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    get knocks() {
      return knocks;
    },
    async untilKnocks(count, by) {
      const gone = by.exited.then(() => {
        throw new Error(`the program has ended:\n${by.lines.join('\n')}`);
      });
      gone.catch(() => undefined); // later it may end as it likes
      while (knocks < count) await Promise.race([once(server, 'knock'), gone]);
    },
    async open() {
      server.close();
      await once(server, 'close');
    },
  };
}
