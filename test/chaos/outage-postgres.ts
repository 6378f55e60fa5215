import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import pg from 'pg';
import { findFreePort } from '../../libs/embedded-postgres/src/free-port.js';
import { locateBinaries } from '../../libs/embedded-postgres/src/locate-binaries.js';
import { findServerAccount, type ServerAccount } from '../../libs/embedded-postgres/src/server-account.js';
import type { TestDatabase } from '../support/database.js';

const READY_TIMEOUT_MS = 60_000;

/** A PostgreSQL server of the test's own that can be stopped and started again, on the same port with the same data. */
export interface RestartablePostgres {
  readonly port: number;
  /** The server's only database; it goes with the server. */
  readonly database: TestDatabase;
  /** As a crash, or `pg_ctl stop -m immediate`: every session ends, nothing is tidied up. */
  crash(): Promise<void>;
  /** Resolves when it takes connections. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Runs the server until a line names a signal for it. When the test has gone without one, nothing is left behind. */
const KEEPER = `"$1" -D "$2/data" -p "$3" -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c lc_messages=C &
if read -r signal; then kill -s "$signal" $!; wait; else kill -s QUIT $!; wait; rm -rf "$2"; fi`;

export async function startRestartablePostgres(): Promise<RestartablePostgres> {
  const directory = await mkdtemp(join(tmpdir(), 'outage-postgres-'));
  const account = await findServerAccount();
  if (account !== undefined) await chown(directory, account.uid, account.gid);
  const { initdb, postgres } = await locateBinaries(directory, account);
  const password = await initialise(initdb, directory, account);
  const port = await findFreePort();
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on('error', () => undefined); // idle connections report every outage, which is what this server is for

  const launch = (): ChildProcessByStdio<Writable, null, Readable> =>
    spawn('/bin/sh', ['-c', KEEPER, 'sh', postgres, directory, String(port)], {
      ...account,
      stdio: ['pipe', 'ignore', 'pipe'],
    });
  let keeper = launch();
  await untilReady(keeper);

  const stop = (signal: string): Promise<void> => {
    const ended = new Promise<void>((resolve) => keeper.once('close', () => resolve()));
    keeper.stdin.end(`${signal}\n`);
    return ended;
  };
  return {
    port,
    database: {
      url,
      query: async <Row extends pg.QueryResultRow>(sql: string, params: readonly unknown[] = []) =>
        (await pool.query<Row>(sql, [...params])).rows,
      drop: async () => undefined,
    },
    crash: () => stop('QUIT'),
    async start() {
      keeper = launch();
      await untilReady(keeper);
    },
    async close() {
      await pool.end();
      if (keeper.exitCode === null) await stop('INT');
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function initialise(initdb: string, directory: string, account: ServerAccount | undefined): Promise<string> {
  const password = randomBytes(16).toString('hex');
  const passwordFile = join(directory, 'password');
  await writeFile(passwordFile, password);
  const options = [
    '--username=postgres',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--locale=C',
    '--no-sync',
  ];
  await promisify(execFile)(initdb, [`--pgdata=${join(directory, 'data')}`, ...options], { ...account });
  return password;
}

function untilReady(keeper: ChildProcessByStdio<Writable, null, Readable>): Promise<void> {
  return new Promise((resolve, reject) => {
    const log: string[] = [];
    const timer = setTimeout(() => reject(new Error(`PostgreSQL did not start:\n${log.join('\n')}`)), READY_TIMEOUT_MS);
    createInterface(keeper.stderr).on('line', (line) => {
      log.push(line);
      if (!line.includes('database system is ready to accept connections')) return;
      clearTimeout(timer);
      resolve();
    });
  });
}
