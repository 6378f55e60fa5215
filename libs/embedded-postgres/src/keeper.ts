import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { locateBinaries } from './locate-binaries.js';
import { PostgresServer } from './postgres-server.js';
import { findServerAccount } from './server-account.js';

// Program: keeps one server for the process that started it, prints the server's URL as its only line, and ends when
// its standard input ends. Whatever happens, the directory with everything that the server wrote is removed.

const settings = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>; // written by startEmbeddedPostgres

const toldToEnd = new Promise<void>((resolve) => {
  process.stdin.once('close', resolve).resume();
  process.once('SIGINT', resolve).once('SIGTERM', resolve);
});

const directory = await mkdtemp(join(tmpdir(), 'embedded-postgres-'));
try {
  const account = await findServerAccount();
  if (account !== undefined) await chown(directory, account.uid, account.gid);
  const server = await PostgresServer.start({
    directory,
    account,
    settings,
    binaries: await locateBinaries(directory, account),
  });
  process.stdout.write(`${server.url}\n`);
  await Promise.race([
    toldToEnd,
    server.ended.then((log) => {
      throw new Error(`The embedded PostgreSQL ended by itself:\n${log}`);
    }),
  ]);
  await server.stop();
} catch (error) {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
} finally {
  await rm(directory, { recursive: true, force: true, maxRetries: 3 });
}
process.exit();
