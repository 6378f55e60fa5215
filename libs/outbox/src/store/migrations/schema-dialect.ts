/** Where the tables are, quoted. */
export interface SchemaPlace {
  readonly schema: string;
  /** Qualified; records the versions of both components. */
  readonly versionTable: string;
}

/** What differs between databases around the steps of a component; the steps themselves bring their own SQL. */
export interface SchemaDialect {
  /** Before a step: what makes processes that migrate at the same time go one after the other. */
  readonly lock: (place: SchemaPlace) => readonly string[];
  readonly createVersionTable: (place: SchemaPlace) => readonly string[];
  readonly dropEmptyVersionTable: (place: SchemaPlace) => readonly string[];
  /** Says with a row whether the version table is there; takes no parameters. */
  readonly versionTablePresence: (place: SchemaPlace) => string;
  readonly now: string;
}

export const postgresDialect: SchemaDialect = {
  /** Held to the end of the transaction. */
  lock: ({ versionTable }) => [`select pg_advisory_xact_lock(hashtextextended(${literal(versionTable)}, 0))`],
  createVersionTable: ({ schema, versionTable }) => [
    // `if not exists` asks for the right to create schemas even when it is there, and many roles do not have it.
    `do ${literal(`begin
  if to_regnamespace(${literal(schema)}) is null then
    create schema ${schema};
  end if;
end`)}`,
    `create table if not exists ${versionTable} (
  component text primary key,
  version integer not null,
  compatible_from integer not null,
  migrated_at timestamptz not null default clock_timestamp()
)`,
  ],
  dropEmptyVersionTable: ({ versionTable }) => [
    // Quoted as text: a name may hold any dollar quote.
    `do ${literal(`begin
  if not exists (select from ${versionTable}) then
    drop table ${versionTable};
  end if;
end`)}`,
  ],
  /**
   * `to_regclass` alone may answer from this session's cache what was true before it waited for another process that
   * migrates; a statement that reads a relation looks again.
   */
  versionTablePresence: ({ versionTable }) =>
    `select 1 as present from pg_catalog.pg_class where oid = to_regclass(${literal(versionTable)})`,
  now: 'clock_timestamp()',
};

/** SQLite lets one transaction write at a time, so that there is nothing to lock; it has no schemas to create. */
export const sqliteDialect: SchemaDialect = {
  lock: () => [],
  createVersionTable: ({ versionTable }) => [
    `create table if not exists ${versionTable} (
  component text primary key,
  version integer not null,
  compatible_from integer not null,
  migrated_at text not null default current_timestamp
)`,
  ],
  dropEmptyVersionTable: () => [],
  versionTablePresence: ({ versionTable }) =>
    `select 1 as present from sqlite_master where type = 'table' and name = ${literal(versionTable.slice(1, -1))}`,
  now: 'current_timestamp',
};

export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
