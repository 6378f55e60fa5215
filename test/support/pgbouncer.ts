import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { findFreePort } from '../../libs/embedded-postgres/src/free-port.js';
import { findServerAccount } from '../../libs/embedded-postgres/src/server-account.js';
import { findProgram } from './find-program.js';

const READY_TIMEOUT_MS = 30_000;
const PROGRAM = findProgram('pgbouncer');

/**
 * Whether tests may do without PgBouncer: on a machine without it they are skipped, and say so. Where `CI` is set it
 * must be there, so that nobody mistakes silence for success.
 */
export const mayLackPgBouncer = PROGRAM === undefined && !process.env.CI;
if (mayLackPgBouncer)
  console.warn('\nPgBouncer IS NOT INSTALLED: tests with it are SKIPPED. On Debian: apt-get install pgbouncer\n');

export interface PgBouncer {
  /** The same database, through PgBouncer. */
  through(url: string): string;
  close(): Promise<void>;
}

/** Runs it until standard input ends; when the test has gone, nothing is left behind. */
const KEEPER = `"$1" "$2/pgbouncer.ini" &
read -r _; kill -s INT $!; wait; rm -rf "$2"`;

/** @param settings lines of its section `[pgbouncer]`. */
export async function startPgBouncer(serverUrl: string, settings: string): Promise<PgBouncer> {
  if (PROGRAM === undefined) throw new Error('PgBouncer is not installed. On Debian: apt-get install pgbouncer');
  const directory = await mkdtemp(join(tmpdir(), 'pgbouncer-'));
  const account = await findServerAccount();
  const port = await findFreePort();
  const { hostname, port: serverPort, username, password } = new URL(serverUrl);
  await writeFile(
    join(directory, 'pgbouncer.ini'),
    `[databases]
* = host=${hostname} port=${serverPort || 5432} user=${username} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
${settings}
`,
  );
  if (account !== undefined) {
    await chown(directory, account.uid, account.gid);
    await chown(join(directory, 'pgbouncer.ini'), account.uid, account.gid);
  }
  const keeper = spawn('/bin/sh', ['-c', KEEPER, 'sh', PROGRAM, directory], {
    ...account,
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true, // Ctrl-C reaches the whole process group, and the keeper has to tidy up
  });
  await untilReady(keeper);
  return {
    through(url) {
      const pooled = new URL(url);
      pooled.hostname = '127.0.0.1';
      pooled.port = String(port);
      return pooled.href;
    },
    async close() {
      const ended = new Promise<void>((resolve) => keeper.once('close', () => resolve()));
      keeper.stdin.end();
      await ended;
      await rm(directory, { recursive: true, force: true }); // its parent belongs to another account
    },
  };
}

function untilReady(keeper: ChildProcessByStdio<Writable, null, Readable>): Promise<void> {
  return new Promise((resolve, reject) => {
    const log: string[] = [];
    const failed = (): void => reject(new Error(`PgBouncer did not start:\n${log.join('\n')}`));
    const timer = setTimeout(failed, READY_TIMEOUT_MS);
    keeper.once('close', failed);
    // Read to its end, also later: a full pipe would stop it.
    createInterface(keeper.stderr).on('line', (line) => {
      if (log.length < 50) log.push(line);
      if (!line.includes('process up')) return;
      clearTimeout(timer);
      resolve();
    });
  });
}
