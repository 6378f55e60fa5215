/** One numbered change of the tables. Statements run in order, in one transaction. */
export interface SchemaStep {
  readonly version: number;
  /** Short kebab-case name of what it brings. */
  readonly name: string;
  readonly up: readonly string[];
  readonly down: readonly string[];
}

/** The tables of the producing or of the consuming side; each has its own version. */
export interface SchemaComponent {
  readonly name: 'outbox' | 'inbox';
  /** Quoted schema. */
  readonly schema: string;
  /** Quoted, qualified table that records the versions of both components. */
  readonly versionTable: string;
  readonly steps: readonly SchemaStep[];
}

export function latestVersion(component: SchemaComponent): number {
  return component.steps.at(-1)?.version ?? 0;
}

/** Statements of one step with its bookkeeping, safe when several processes start at once. */
export function stepUp(component: SchemaComponent, step: SchemaStep): readonly string[] {
  return [
    takeLock(component),
    `create schema if not exists ${component.schema}`,
    `create table if not exists ${component.versionTable} (
  component text primary key,
  version integer not null,
  migrated_at timestamptz not null default clock_timestamp()
)`,
    ...step.up,
    `insert into ${component.versionTable} (component, version) values ('${component.name}', ${step.version})
on conflict (component) do update set version = excluded.version, migrated_at = clock_timestamp()`,
  ];
}

/** Undoes one step. The version table goes with the last component; the schema stays, other tables may be in it. */
export function stepDown(component: SchemaComponent, step: SchemaStep): readonly string[] {
  const earlier = step.version - 1;
  return [
    takeLock(component),
    ...step.down,
    earlier === 0
      ? `delete from ${component.versionTable} where component = '${component.name}'`
      : `update ${component.versionTable} set version = ${earlier}, migrated_at = clock_timestamp() where component = '${component.name}'`,
    `do $$ begin
  if not exists (select from ${component.versionTable}) then
    drop table ${component.versionTable};
  end if;
end $$`,
  ];
}

/** Held to the end of the transaction; two processes of one schema migrate one after the other. */
function takeLock(component: SchemaComponent): string {
  return `select pg_advisory_xact_lock(hashtextextended('${component.versionTable.replaceAll("'", "''")}', 0))`;
}
