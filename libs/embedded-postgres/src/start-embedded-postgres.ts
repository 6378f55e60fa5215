import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface EmbeddedPostgresOptions {
  /** PostgreSQL settings beside the defaults, for example `{ wal_level: 'logical' }`. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface EmbeddedPostgres {
  /** Superuser connection to the database `postgres`. */
  readonly url: string;
  /** Resolves when the server has ended and its files are gone; may be called more than once. */
  stop(): Promise<void>;
}

/**
 * Starts a PostgreSQL server of its own on a free port of 127.0.0.1, with an empty data directory.
 *
 * The server belongs to a keeper process which ends it, and deletes its files, as soon as the pipe from this process
 * closes: on `stop()`, and also when this process is interrupted, crashes or is killed. The keeper does not keep this
 * process alive.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions = {}): Promise<EmbeddedPostgres> {
  const keeper = spawn(
    process.execPath,
    [fileURLToPath(new URL('./keeper.js', import.meta.url)), JSON.stringify(options.settings ?? {})],
    // Detached: Ctrl-C in a terminal reaches the whole process group, and the server must outlive the users of it.
    { stdio: ['pipe', 'pipe', 'pipe'], detached: true },
  );
  const exited = once(keeper, 'exit');
  const complaints: string[] = [];
  createInterface(keeper.stderr).on('line', (line) => complaints.push(line));
  const url = await Promise.race([
    once(createInterface(keeper.stdout), 'line').then(([line]) => String(line)),
    once(keeper, 'close').then(() => {
      throw new Error(complaints.join('\n') || 'The keeper of the embedded PostgreSQL ended without a reason.');
    }),
  ]);

  // From here on it only speaks when the server ends by itself.
  keeper.stderr.pipe(process.stderr);
  keeper.unref();
  // A pipe to a child is a socket at run time, though it is declared as a stream.
  for (const pipe of keeper.stdio) if (pipe instanceof Socket) pipe.unref();

  return {
    url,
    async stop() {
      keeper.ref();
      keeper.stdin.end();
      await exited;
    },
  };
}
