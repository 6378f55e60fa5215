import { type SchemaComponent, type SchemaStep, stepDown, stepUp } from './schema-component.js';

/** A TypeORM DataSource, EntityManager or QueryRunner. */
export interface Queryable {
  query(text: string, parameters?: unknown[]): Promise<unknown>;
}

/** Applies one step unless it is there already; must run inside a transaction. */
export async function applyStep(queryable: Queryable, component: SchemaComponent, step: SchemaStep): Promise<void> {
  const [lock, ...statements] = stepUp(component, step);
  if (lock !== undefined) await queryable.query(lock);
  if ((await versionIn(queryable, component)) >= step.version) return;
  for (const statement of statements) await queryable.query(statement);
}

/** Takes one step back; must run inside a transaction. */
export async function revertStep(queryable: Queryable, component: SchemaComponent, step: SchemaStep): Promise<void> {
  for (const statement of stepDown(component, step)) await queryable.query(statement);
}

/**
 * Version of the tables; zero when they are not there. `to_regclass` alone may answer from this session's cache what was
 * true before it waited for another process that migrates; a statement that reads a relation looks again.
 */
export async function versionIn(queryable: Queryable, component: SchemaComponent): Promise<number> {
  const [table] = (await queryable.query(
    'select exists (select from pg_catalog.pg_class where oid = to_regclass($1)) as present',
    [component.versionTable],
  )) as { present: boolean }[];
  if (!table?.present) return 0;
  const [row] = (await queryable.query(`select version from ${component.versionTable} where component = $1`, [
    component.name,
  ])) as { version: number }[];
  return row?.version ?? 0;
}
