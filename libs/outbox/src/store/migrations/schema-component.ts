import type { SchemaDialect, SchemaPlace } from './schema-dialect.js';

/** One numbered change of the tables. Statements run in order, in one transaction. */
export interface SchemaStep {
  readonly version: number;
  /** Short kebab-case name of what it brings. */
  readonly name: string;
  readonly up: readonly string[];
  readonly down: readonly string[];
}

/** The tables of the producing or of the consuming side; each has its own version. */
export interface SchemaComponent extends SchemaPlace {
  readonly name: 'outbox' | 'inbox';
  readonly dialect: SchemaDialect;
  readonly steps: readonly SchemaStep[];
}

export function latestVersion(component: SchemaComponent): number {
  return component.steps.at(-1)?.version ?? 0;
}

/** Statements of one step with its bookkeeping, safe when several processes start at once. */
export function stepUp(component: SchemaComponent, step: SchemaStep): readonly string[] {
  const { dialect, name, versionTable } = component;
  return [
    ...dialect.createVersionTable(component),
    ...step.up,
    `insert into ${versionTable} (component, version) values ('${name}', ${step.version})
on conflict (component) do update set version = excluded.version, migrated_at = ${dialect.now}`,
  ];
}

/** Undoes one step. The version table goes with the last component; the schema stays, other tables may be in it. */
export function stepDown(component: SchemaComponent, step: SchemaStep): readonly string[] {
  const { dialect, name, versionTable } = component;
  const earlier = step.version - 1;
  return [
    ...dialect.lock(component),
    ...step.down,
    earlier === 0
      ? `delete from ${versionTable} where component = '${name}'`
      : `update ${versionTable} set version = ${earlier}, migrated_at = ${dialect.now} where component = '${name}'`,
    ...dialect.dropEmptyVersionTable(component),
  ];
}
