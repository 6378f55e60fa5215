import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../../libs/embedded-postgres/src/free-port.js';
import { ChildProgram } from './child-process.js';
import { eventually } from './eventually.js';
import { findProgram } from './find-program.js';

const READY = { timeoutMs: 60_000, intervalMs: 50 };

/** A broker of a test's own, on a free port, with what it keeps in a directory of its own. */
export interface BrokerServer {
  readonly url: string;
  /** Kills it, as a crash does, and starts it again on what is on the disk. Resolves when it listens. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** What a server is started with. */
export interface ServerCommand {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * The program of a broker, which tests may do without: on a machine without it they are skipped, and say so. Where `CI` is
 * set it must be there, so that nobody mistakes silence for success.
 */
export function findBroker(
  broker: string,
  program: string,
  ...first: readonly string[]
): { readonly program: string | undefined; readonly mayLack: boolean } {
  const found = findProgram(program, ...first);
  const mayLack = found === undefined && !process.env.CI;
  if (mayLack) {
    console.warn(
      `\n${broker} IS NOT INSTALLED: tests that restart it are SKIPPED. On Debian: apt-get install ${program}\n`,
    );
  }
  return { program: found, mayLack };
}

/** @param commandFor the arguments and variables for a port and a directory, the same for every start. */
export async function startBrokerServer(
  scheme: string,
  program: string | undefined,
  commandFor: (port: number, directory: string) => ServerCommand,
): Promise<BrokerServer> {
  if (program === undefined) throw new Error(`The server for ${scheme}:// is not installed.`);
  const directory = await mkdtemp(join(tmpdir(), 'broker-'));
  const port = await findFreePort();
  const { args, env } = commandFor(port, directory);
  const start = async (): Promise<ChildProgram> => {
    const child = startServer(program, args, env);
    await Promise.race([eventually(() => listens(port), READY), endedTooEarly(child)]);
    return child;
  };
  let running = await start();
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    async restart() {
      await kill(running);
      running = await start();
    },
    async stop() {
      await kill(running);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Starts a program that ends with the test file at the latest. */
export function startServer(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ChildProgram {
  return new ChildProgram(
    spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true }),
  );
}

/** With all that it has started. */
async function kill(server: ChildProgram): Promise<void> {
  server.endGroup();
  await server.exited;
}

async function endedTooEarly(child: ChildProgram): Promise<never> {
  await child.exited;
  throw new Error(`The server did not start. Output:\n${child.lines.slice(-30).join('\n')}`);
}

function listens(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', reject).once('connect', () => {
      socket.destroy();
      resolve();
    });
  });
}
