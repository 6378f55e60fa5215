import { type SchemaComponent, type SchemaStep, stepDown, stepUp } from './schema-component.js';
import { literal } from './schema-dialect.js';

/** A TypeORM DataSource, EntityManager or QueryRunner. */
export interface Queryable {
  query(text: string, parameters?: unknown[]): Promise<unknown>;
}

/** Applies one step unless it is there already; must run inside a transaction. */
export async function applyStep(queryable: Queryable, component: SchemaComponent, step: SchemaStep): Promise<void> {
  for (const statement of component.dialect.lock(component)) await queryable.query(statement);
  if ((await versionIn(queryable, component)) >= step.version) return;
  for (const statement of stepUp(component, step)) await queryable.query(statement);
}

/** Takes one step back; must run inside a transaction. */
export async function revertStep(queryable: Queryable, component: SchemaComponent, step: SchemaStep): Promise<void> {
  for (const statement of stepDown(component, step)) await queryable.query(statement);
}

/** Version of the tables; zero when they are not there. */
export async function versionIn(queryable: Queryable, component: SchemaComponent): Promise<number> {
  const { dialect, key, versionTable } = component;
  const present = (await queryable.query(dialect.versionTablePresence(component))) as unknown[];
  if (present.length === 0) return 0;
  const [row] = (await queryable.query(`select version from ${versionTable} where component = ${literal(key)}`)) as {
    version: number;
  }[];
  return row?.version ?? 0;
}
