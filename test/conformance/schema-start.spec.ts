import {
  DatabaseUnreachableError,
  type MigrateMode,
  OutboxModule,
  type OutboxTableOptions,
  outboxMigrations,
  SchemaVersionError,
} from 'nestjs-transactional-outbox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { letInAgain, shutOut } from '../support/database-access.js';
import { ModuleHarness, outboxOptions } from '../support/module-harness.js';

describe('the start of an application', () => {
  const harness = new ModuleHarness();
  let database: TestDatabase;
  beforeEach(async () => {
    database = await harness.database();
  });
  afterEach(() => harness.end());

  const startWith = async (migrate: MigrateMode, tables: OutboxTableOptions = {}): Promise<void> => {
    const options = outboxOptions(undefined, { migrate, tables });
    await harness.start({ imports: [await harness.typeOrm(database), OutboxModule.forRoot(options)] });
    await harness.endApplications();
  };
  const setVersion = (version: number, compatibleFrom = version): Promise<unknown> =>
    database.query(`update outbox_schema_version set version = $1, compatible_from = $2 where component = 'outbox'`, [
      version,
      compatibleFrom,
    ]);

  const COMMAND = `Add ...outboxMigrations() to the migrations of the DataSource and run \`npx typeorm migration:run -d <your data source file>\`, or set migrate: 'auto' for development.`;

  it('without the tables says so in one message, with the command', async () => {
    const started = startWith('verify');
    await expect(started).rejects.toThrow(SchemaVersionError);
    await expect(started).rejects.toThrow(`the outbox tables in schema "public" are missing. ${COMMAND}`);
    expect(await database.query(`select to_regclass('outbox_event') as event`)).toEqual([{ event: null }]);
  });

  it('on older tables says so in one message, with the command', async () => {
    await startWith('auto');
    await setVersion(0);
    await expect(startWith('verify')).rejects.toThrow(/^the outbox tables in schema "public" .*migration:run -d/);
  });

  it.each<MigrateMode>(['verify', 'auto'])(
    'on newer tables says what to install, and changes nothing (%s)',
    async (mode) => {
      await startWith('auto');
      await setVersion(99);
      const started = startWith(mode);
      await expect(started).rejects.toThrow(SchemaVersionError);
      await expect(started).rejects.toThrow(
        /have version 99, this library knows only up to \d+\. Install the version of nestjs-transactional-outbox that migrated them\.$/,
      );
      expect(await database.query('select version from outbox_schema_version')).toEqual([{ version: 99 }]);
    },
  );

  it.each<MigrateMode>(['verify', 'auto'])(
    'on newer tables that say that this library can work with them goes on, and changes nothing (%s)',
    async (mode) => {
      await startWith('auto');
      await setVersion(99, 1);
      await startWith(mode);
      expect(await database.query('select version from outbox_schema_version')).toEqual([{ version: 99 }]);
    },
  );

  it('with other table names than those in the schema does not take the one set for the other', async () => {
    await startWith('auto');
    const messages = { event: 'messages', delivery: 'queue', lane: 'l', aggregate: 'a', destination: 'd' };
    await expect(startWith('verify', messages)).rejects.toThrow(
      COMMAND.replace('()', '() with the same { schema, tables }'),
    );
    await startWith('auto', messages);
    await startWith('verify', messages);
    await startWith('verify');
    expect(
      await database.query('select (select count(*)::int from messages), count(*)::int as events from outbox_event'),
    ).toEqual([{ count: 0, events: 0 }]);
  });

  it('neither looks nor migrates when told not to', async () => {
    await startWith('off');
    expect(await database.query(`select to_regclass('outbox_event') as event`)).toEqual([{ event: null }]);
  });

  it('without its database says that it cannot be reached, and starts when it is back', async () => {
    await startWith('auto');
    const metadata = async () => ({
      imports: [await harness.typeOrm(database), OutboxModule.forRoot(outboxOptions(undefined, { migrate: 'verify' }))],
    });
    const module = await harness.compile(await metadata());
    await shutOut(database);
    try {
      const started = module.init();
      await expect(started).rejects.toThrow(DatabaseUnreachableError);
      await expect(started).rejects.toMatchObject({
        code: 'OUTBOX_DATABASE_UNREACHABLE',
        retryable: true,
        message: expect.stringMatching(/^the outbox could not ask PostgreSQL .* Check that the server runs/),
        cause: expect.any(Error),
      });
    } finally {
      await letInAgain(database);
    }
    await harness.endApplications();
    await startWith('verify');
  });

  it('of five applications at once makes the tables once', async () => {
    const sources = await Promise.all(Array.from({ length: 5 }, () => harness.typeOrm(database, { entities: [] })));
    const modules = await Promise.all(
      sources.map((source) => harness.compile({ imports: [source, OutboxModule.forRoot(outboxOptions())] })),
    );
    await Promise.all(modules.map((module) => module.init()));
    expect(await database.query('select component, version from outbox_schema_version')).toEqual([
      { component: 'outbox', version: outboxMigrations().length },
    ]);
    expect(await database.query('select 1 from outbox_event')).toEqual([]);
  });
});
