import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeError } from '../../errors/index.js';
import { UsageError } from '../cli-error.js';
import type { OutboxConfig } from './outbox-config.js';

const FILE_NAMES = ['outbox.config.js', 'outbox.config.mjs', 'outbox.config.cjs'];
const KEYS = ['dataSource', 'outbox', 'inbox', 'app'];

/**
 * The configuration of the file, or of `outbox.config.{js,mjs,cjs}` in the working directory; undefined when there is none.
 *
 * @throws UsageError for a file that is not there, does not load, or says something else.
 */
export async function loadConfig(
  file: string | undefined,
  workingDirectory: string,
): Promise<OutboxConfig | undefined> {
  const found = file ?? FILE_NAMES.find((name) => existsSync(resolve(workingDirectory, name)));
  if (found === undefined) return undefined;
  const path = resolve(workingDirectory, found);
  if (!existsSync(path)) throw new UsageError(`the configuration file ${path} does not exist. Check --config.`);
  return checked(await load(path), path);
}

async function load(path: string): Promise<unknown> {
  try {
    const module = (await import(pathToFileURL(path).href)) as { readonly default?: unknown };
    const given = defaultOf(module);
    return await (typeof given === 'function' ? given() : given);
  } catch (error) {
    const hint = path.endsWith('.ts') ? ' It is TypeScript: compile it, and name the JavaScript file.' : '';
    throw new UsageError(`the configuration file ${path} does not load: ${describeError(error)}.${hint}`, error);
  }
}

/** A CommonJS file that was compiled from an ES module has its default export one level deeper. */
function defaultOf({ default: given }: { readonly default?: unknown }): unknown {
  if (typeof given === 'object' && given !== null && '__esModule' in given && 'default' in given) return given.default;
  return given;
}

function checked(given: unknown, path: string): OutboxConfig {
  const wrong = (what: string): UsageError =>
    new UsageError(`the configuration file ${path} ${what}. It exports { dataSource, outbox, … } as default.`);
  if (typeof given !== 'object' || given === null) throw wrong('has no default export, or one that is no object');
  const unknown = Object.keys(given).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) throw wrong(`has "${unknown}", which means nothing`);
  const config = given as OutboxConfig; // its parts are checked where they are used
  if (typeof config.dataSource !== 'object' || config.dataSource === null) throw wrong('has no "dataSource"');
  if (config.app !== undefined && typeof config.app !== 'function') throw wrong('has an "app" that is no function');
  return config;
}
