import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { ConfigurationError } from '../errors/index.js';
import { ambientRunner, outsideTransaction } from './ambient-frame.js';

/** Only DataSources listed here are enlisted; all others behave as TypeORM made them. */
const enlisted = new WeakSet<DataSource>();
/** Prototypes of EntityManager (one per copy of TypeORM in the process) that have the accessor. */
const patchedPrototypes = new WeakSet<object>();
/** Runners given to a manager when it was made; they win over the ambient one. */
const ownRunners = new WeakMap<EntityManager, QueryRunner>();

/**
 * Makes repositories, managers, query builders, `dataSource.query`, ActiveRecord statics and lazy relations of this
 * DataSource take part in the ambient transaction. Idempotent. Outside a transaction nothing changes.
 *
 * A manager reads its runner through an accessor on the prototype, because many applications build repositories with
 * `dataSource.createEntityManager()` before this library is there. What needs more than the accessor is wrapped there
 * too: a repository must not keep our runner, and `manager.release()` must not release it.
 */
export function enlistDataSource(dataSource: DataSource): void {
  if (enlisted.has(dataSource)) return;
  enlisted.add(dataSource);
  patchPrototype(entityManagerPrototype(dataSource.manager));
  wrapDataSource(dataSource);
}

function patchPrototype(prototype: EntityManager): void {
  if (patchedPrototypes.has(prototype)) return;
  patchedPrototypes.add(prototype);
  hideAmbientRunner(prototype, 'getRepository');
  hideAmbientRunner(prototype, 'getTreeRepository');
  hideAmbientRunner(prototype, 'release');
  Object.defineProperty(prototype, 'queryRunner', {
    configurable: true,
    enumerable: false,
    get(this: EntityManager): QueryRunner | undefined {
      const own = ownRunners.get(this);
      if (own !== undefined) return own;
      const dataSource = dataSourceOf(this);
      return dataSource !== undefined && enlisted.has(dataSource) ? ambientRunner(dataSource) : undefined;
    },
    set(this: EntityManager, runner: QueryRunner | undefined) {
      if (runner === undefined) ownRunners.delete(this);
      else ownRunners.set(this, runner);
    },
  });
}

function wrapDataSource(dataSource: DataSource): void {
  const query = dataSource.query;
  dataSource.query = function (this: DataSource, text: string, parameters?: unknown[], runner?: QueryRunner) {
    return query.call(this, text, parameters, runner ?? ambientRunner(dataSource));
  } as DataSource['query'];

  // Lazy relations of entities that were loaded outside come through here too.
  // The overloads cannot be spelled out once for both major versions; the arguments pass through unchanged.
  const createQueryBuilder = dataSource.createQueryBuilder as unknown as (...args: unknown[]) => unknown;
  dataSource.createQueryBuilder = function (this: DataSource, first?: unknown, alias?: unknown, runner?: unknown) {
    const current = ambientRunner(dataSource);
    return alias
      ? createQueryBuilder.call(this, first, alias, runner ?? current)
      : createQueryBuilder.call(this, first ?? current);
  } as DataSource['createQueryBuilder'];
}

/** Makes a method see only the runner that its manager was made with. */
function hideAmbientRunner(prototype: EntityManager, name: 'getRepository' | 'getTreeRepository' | 'release'): void {
  // The three have nothing in common but this: arguments and result pass through unchanged.
  const methods = prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
  const method = methods[name];
  if (method === undefined) return;
  methods[name] = function (this: EntityManager, ...args) {
    return ownRunners.has(this) ? method.apply(this, args) : outsideTransaction(() => method.apply(this, args));
  };
}

/** TypeORM 1 says `dataSource`, 0.3 says `connection`. */
export function dataSourceOf(manager: EntityManager): DataSource | undefined {
  const either = manager as { dataSource?: DataSource; connection?: DataSource };
  return either.dataSource ?? either.connection;
}

function entityManagerPrototype(manager: EntityManager): EntityManager {
  for (
    let prototype = Object.getPrototypeOf(manager);
    prototype !== null;
    prototype = Object.getPrototypeOf(prototype)
  ) {
    if (Object.getPrototypeOf(prototype) === Object.prototype) return prototype as EntityManager;
  }
  throw new ConfigurationError('dataSource.manager is no EntityManager. Give the outbox a TypeORM DataSource.');
}
