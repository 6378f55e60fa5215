import { type SchemaComponent, type SchemaStep, stepDown, stepUp } from './schema-component.js';
import { literal } from './schema-dialect.js';

/** A TypeORM DataSource, EntityManager or QueryRunner. */
export interface Queryable {
  query(text: string, parameters?: unknown[]): Promise<unknown>;
}

const NO_TABLES: SchemaVersion = { version: 0, compatibleFrom: 0 };

/** Applies one step unless it is there already; must run inside a transaction. */
export async function applyStep(queryable: Queryable, component: SchemaComponent, step: SchemaStep): Promise<void> {
  for (const statement of component.dialect.lock(component)) await queryable.query(statement);
  if ((await versionIn(queryable, component)).version >= step.version) return;
  for (const statement of stepUp(component, step)) await queryable.query(statement);
}

/** Takes one step back; must run inside a transaction. */
export async function revertStep(queryable: Queryable, component: SchemaComponent, step: SchemaStep): Promise<void> {
  for (const statement of stepDown(component, step)) await queryable.query(statement);
}

export interface SchemaVersion {
  /** Zero when the tables are not there. */
  readonly version: number;
  /** The oldest version that a library may know and still work with these tables. */
  readonly compatibleFrom: number;
}

export async function versionIn(queryable: Queryable, component: SchemaComponent): Promise<SchemaVersion> {
  const { dialect, key, versionTable } = component;
  const present = (await queryable.query(dialect.versionTablePresence(component))) as unknown[];
  if (present.length === 0) return NO_TABLES;
  const [row] = (await queryable.query(
    `select version, compatible_from as "compatibleFrom" from ${versionTable} where component = ${literal(key)}`,
  )) as SchemaVersion[];
  return row ?? NO_TABLES;
}
