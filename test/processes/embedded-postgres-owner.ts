import { startEmbeddedPostgres } from 'embedded-postgres-server';

// Owns an embedded server and never stops it: it waits to be killed, or just ends when it is told to.

const server = await startEmbeddedPostgres();
process.stdout.write(`url ${server.url}\n`);
if (process.argv[2] !== 'end-at-once') setInterval(() => undefined, 60_000);
