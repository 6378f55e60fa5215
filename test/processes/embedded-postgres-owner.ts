import { startEmbeddedPostgres } from 'embedded-postgres-server';

// Owns an embedded server and never stops it, as an application that is killed.

const server = await startEmbeddedPostgres();
process.stdout.write(`url ${server.url}\n`);
setInterval(() => undefined, 60_000);
