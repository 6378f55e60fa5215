import type { DataSource } from 'typeorm';
import { ConfigurationError } from '../errors/index.js';

/** Which tables are in use by a module of this process; it belongs to the DataSource and goes with it. */
const owned = new WeakMap<DataSource, Set<string>>();

/**
 * Makes sure that one set of tables is served by one module only: a module that is imported twice would run two
 * dispatchers, and Nest makes two instances of two `forRoot()` calls.
 *
 * @param tables text that names the tables.
 * @returns gives them up again, at the end of the application.
 * @throws ConfigurationError when they are taken.
 */
export function ownTables(dataSource: DataSource, moduleName: string, tables: string): () => void {
  const taken = owned.get(dataSource) ?? new Set();
  owned.set(dataSource, taken);
  const key = `${moduleName}:${tables}`;
  if (taken.has(key)) {
    throw new ConfigurationError(
      `${moduleName} is registered twice for ${tables}. Import ${moduleName}.forRoot() once, in the root module; it is global, so feature modules need not import it.`,
    );
  }
  taken.add(key);
  return () => taken.delete(key);
}
