import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { findFreePort } from './free-port.js';
import type { PostgresBinaries } from './locate-binaries.js';
import type { ServerAccount } from './server-account.js';

const execute = promisify(execFile);

const START_ATTEMPTS = 5;
const STOP_TIMEOUT_MS = 10_000;
const KEPT_LOG_LINES = 30;

/** For a server that is thrown away: no durability against a power cut, plenty of connections. */
const DEFAULT_SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '', // a socket file would be left behind by a crash, and nobody needs it
  max_connections: '300',
  fsync: 'off',
  full_page_writes: 'off',
  lc_messages: 'C', // the line that says "ready" is recognised by its text
} as const;

type ServerProcess = ChildProcessByStdio<null, null, Readable>;

export interface PostgresServerOptions {
  /** Empty directory that belongs to the account; everything the server writes stays in it. */
  readonly directory: string;
  readonly account: ServerAccount | undefined;
  readonly binaries: PostgresBinaries;
  readonly settings: Readonly<Record<string, string>>;
}

/** One running server. Starting resolves when it accepts connections, stopping when its process has exited. */
export class PostgresServer {
  /** Resolves with the last lines of the log when the server has exited, for whatever reason. */
  readonly ended: Promise<string>;

  private readonly log: string[] = [];

  private constructor(
    readonly url: string,
    private readonly child: ServerProcess,
  ) {
    this.ended = new Promise((resolve) => {
      child.once('error', (error) => resolve(String(error))); // it could not be executed at all
      child.once('close', () => resolve(this.log.join('\n')));
    });
  }

  static async start(options: PostgresServerOptions): Promise<PostgresServer> {
    const password = await initialise(options);
    for (let attempt = 1; ; attempt += 1) {
      const port = await findFreePort();
      const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
      const server = new PostgresServer(url, launch(options, port));
      const failure = await server.untilReady();
      if (failure === undefined) return server;
      // The likely reason is that another process took the port in between.
      if (attempt === START_ATTEMPTS) throw new Error(`The embedded PostgreSQL did not start:\n${failure}`);
    }
  }

  /** Ends sessions at once and shuts down in order; a server that hangs is killed. */
  async stop(): Promise<void> {
    this.child.kill('SIGINT');
    const timer = setTimeout(() => this.child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await this.ended;
    clearTimeout(timer);
  }

  private async untilReady(): Promise<string | undefined> {
    const ready = new Promise<undefined>((resolve) => {
      // The log is read to its end, also later: a full pipe would stop the server.
      createInterface(this.child.stderr).on('line', (line) => {
        this.log.push(line);
        if (this.log.length > KEPT_LOG_LINES) this.log.shift();
        if (line.includes('database system is ready to accept connections')) resolve(undefined);
      });
    });
    return Promise.race([ready, this.ended]);
  }
}

/** Creates the data directory with a collation that is the same on every machine; returns the superuser's password. */
async function initialise({ directory, account, binaries }: PostgresServerOptions): Promise<string> {
  const password = randomBytes(16).toString('hex');
  const passwordFile = join(directory, 'password');
  await writeFile(passwordFile, password);
  await execute(
    binaries.initdb,
    [
      `--pgdata=${join(directory, 'data')}`,
      '--username=postgres',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-sync',
    ],
    { ...account },
  );
  return password;
}

function launch({ directory, account, binaries, settings }: PostgresServerOptions, port: number): ServerProcess {
  const flags = Object.entries({ ...DEFAULT_SETTINGS, ...settings }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  return spawn(binaries.postgres, ['-D', join(directory, 'data'), '-p', String(port), ...flags], {
    ...account,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}
