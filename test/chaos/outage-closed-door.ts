import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

/** Stands where a server was, and ends every connection at once. */
export interface ClosedDoor {
  /** How many connections were tried so far. */
  readonly knocks: number;
  /** Resolves when that many were. */
  untilKnocks(count: number): Promise<void>;
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
    async untilKnocks(count) {
      while (knocks < count) await once(server, 'knock');
    },
    async open() {
      server.close();
      await once(server, 'close');
    },
  };
}
