import { execFile } from 'node:child_process';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** The account that the server runs under. */
export interface ServerAccount {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root; there it gets the account `postgres`. Elsewhere it runs as the caller. */
export async function findServerAccount(): Promise<ServerAccount | undefined> {
  if (userInfo().uid !== 0) return undefined;
  return (await lookUp('postgres')) ?? (await create('postgres'));
}

async function lookUp(name: string): Promise<ServerAccount | undefined> {
  try {
    const [uid, gid] = await Promise.all([execute('id', ['-u', name]), execute('id', ['-g', name])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined; // `id` fails when there is no such account, which is the question asked
  }
}

/**
 * Several processes may come here at once, and groupadd and useradd do not reliably wait for each other: so one of them
 * works and the others find it done. The lock is on the directory, because a lock file would be left behind.
 */
async function create(name: string): Promise<ServerAccount> {
  const commands = [
    `id -u ${name} && exit`,
    `groupadd --force --system ${name}`,
    `useradd --system --gid ${name} --no-create-home --shell /usr/sbin/nologin ${name}`,
  ];
  let problem: unknown;
  try {
    await execute('flock', ['/etc', 'sh', '-c', commands.join('\n')]);
  } catch (error) {
    problem = error;
  }
  const account = await lookUp(name);
  if (account === undefined) {
    throw new Error(
      `PostgreSQL does not run as root, and the account "${name}" could not be created (${String(problem)}). Create it, or run as another user.`,
      { cause: problem },
    );
  }
  return account;
}
