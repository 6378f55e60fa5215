import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that Linux, macOS and Windows give to outgoing connections, so that none of those takes it. */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;
const TRIES = 50;

/** A port of 127.0.0.1 that stays free for a receiver that is stopped and started again. */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port was found between ${FIRST_PORT} and ${LAST_PORT}.`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch {
    return false; // `once` rejects with the error of a port that is taken, which is the question asked
  }
  server.close();
  await once(server, 'close');
  return true;
}
