import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where servers are installed that are not on everybody's path. */
const FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin', '/opt/homebrew/sbin'];

/** The program of that name, on the path or where servers are installed. @param first folders to look into before. */
export function findProgram(name: string, ...first: readonly string[]): string | undefined {
  return [...first, ...(process.env.PATH ?? '').split(delimiter), ...FOLDERS]
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false; // not there, which is the question asked
      }
    });
}
