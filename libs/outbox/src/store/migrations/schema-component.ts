import { literal, type SchemaDialect, type SchemaPlace } from './schema-dialect.js';

/** One numbered change of the tables. Statements run in order, in one transaction. */
export interface SchemaStep {
  readonly version: number;
  /** The oldest version that a library may know and still work with tables of this one; in a rolling deployment both run. */
  readonly compatibleFrom: number;
  /** Short kebab-case name of what it brings. */
  readonly name: string;
  readonly up: readonly string[];
  readonly down: readonly string[];
}

/** The tables of the producing or of the consuming side; each has its own version. */
export interface SchemaComponent extends SchemaPlace {
  readonly name: 'outbox' | 'inbox';
  /**
   * Under which its version is recorded: the name, with the tables when they have other names than the default ones, so
   * that two sets of tables in one schema are not taken for one.
   */
  readonly key: string;
  readonly dialect: SchemaDialect;
  readonly steps: readonly SchemaStep[];
}

/** True for tables whose schema and names nobody chose. */
export function hasDefaultNames({ name, key, schema }: SchemaComponent): boolean {
  return key === name && (schema === '"public"' || schema === '"main"');
}

export function latestVersion(component: SchemaComponent): number {
  return component.steps.at(-1)?.version ?? 0;
}

/** Statements of one step with its bookkeeping, safe when several processes start at once. */
export function stepUp(component: SchemaComponent, step: SchemaStep): readonly string[] {
  const { dialect, key, versionTable } = component;
  return [
    ...dialect.createVersionTable(component),
    ...step.up,
    `insert into ${versionTable} (component, version, compatible_from) values (${literal(key)}, ${step.version}, ${step.compatibleFrom})
on conflict (component) do update
set version = excluded.version, compatible_from = excluded.compatible_from, migrated_at = ${dialect.now}`,
  ];
}

/** Undoes one step. The version table goes with the last component; the schema stays, other tables may be in it. */
export function stepDown(component: SchemaComponent, step: SchemaStep): readonly string[] {
  const { dialect, versionTable } = component;
  const earlier = component.steps.find(({ version }) => version === step.version - 1);
  const key = literal(component.key);
  return [
    ...dialect.lock(component),
    ...step.down,
    earlier === undefined
      ? `delete from ${versionTable} where component = ${key}`
      : `update ${versionTable} set version = ${earlier.version}, compatible_from = ${earlier.compatibleFrom}, migrated_at = ${dialect.now} where component = ${key}`,
    ...dialect.dropEmptyVersionTable(component),
  ];
}
