import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Reads every request to its end and answers 204: the fastest receiver there is, in a process of its own. Says its port
 * to the process that forked it, and ends with it.
 */
const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume().once('end', () => response.writeHead(204).end());
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit());
