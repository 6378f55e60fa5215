import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveSchema, resolveTables } from '../../libs/outbox/src/config/index.js';
import { CLAIM_COLUMNS } from '../../libs/outbox/src/store/claimed-row.js';
import { inboxSchemaSql, outboxNames, outboxSchemaSql, resolveInboxNames } from '../../libs/outbox/src/store/index.js';
import { claimDeliveriesSql } from '../../libs/outbox/src/store/sql/claim-deliveries.sql.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

/** Names that are right only when they are quoted wherever they stand. */
const SCHEMA = 'Mess"aging select';
const TABLES = { event: 'the "log"', delivery: 'Order', lane: 'select', aggregate: 'a.b', destination: "it's" };
const COMPLETIONS = ['delete', 'keep', 'archive'];
const SQL_FOLDER = new URL('../../libs/outbox/src/store/sql/', import.meta.url);

const schema = resolveSchema(SCHEMA);
const names = {
  ...outboxNames(schema, resolveTables(TABLES)),
  ...inboxTables(),
};

function inboxTables(): { processed: string; failed: string } {
  const { processed, failed } = resolveInboxNames({ schema: SCHEMA, table: 'pro"cessed' });
  return { processed, failed };
}

interface Statement {
  readonly name: string;
  readonly text: string;
}

/** What a function of the folder makes of the names, with each completion where it asks for one. */
function textsOf(name: string, make: (...args: unknown[]) => unknown): Statement[] {
  if (make.length < 2) return [{ name, text: String(make(names)) }];
  return COMPLETIONS.map((completion) => ({ name: `${name} ${completion}`, text: String(make(names, completion)) }));
}

async function allStatements(): Promise<Statement[]> {
  const statements: Statement[] = [];
  for (const file of await readdir(SQL_FOLDER)) {
    const module: Record<string, unknown> = await import(new URL(file, SQL_FOLDER).href);
    const made = Object.entries(module).flatMap(([name, value]) =>
      // Every function of this folder takes the names, and a completion at most, and answers a text; where it may be
      // told another table, it takes one of the names by itself. What needs no names is a text.
      typeof value === 'function' && !name.includes('OnSqlite')
        ? textsOf(name, value as (...args: unknown[]) => unknown)
        : typeof value === 'string' && name.endsWith('_SQL')
          ? [{ name, text: value }]
          : [],
    );
    if (made.length === 0) throw new Error(`${file} makes no statement`);
    statements.push(...made);
  }
  return statements;
}

describe('the statements of the store', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    await database.query(outboxSchemaSql({ schema: SCHEMA, tables: TABLES }));
    await database.query(inboxSchemaSql({ schema: SCHEMA, table: 'pro"cessed' }));
  });
  afterAll(() => database.drop());

  it('fit the migrated schema, each of them, whatever schema and tables are called', async () => {
    const statements = await allStatements();
    expect(statements.length).toBeGreaterThanOrEqual(20);
    const refused: string[] = [];
    // The search path finds nothing: every table must be named with its schema.
    for (const { name, text } of statements) {
      await database
        .query(`set search_path = ''; prepare statement_under_test as ${text}; deallocate statement_under_test`)
        .catch((error: Error) => refused.push(`${name}: ${error.message}`));
    }
    expect(refused).toEqual([]);
  });

  it('answer a claim with the columns that are read from it, in their order', async () => {
    const [row] = await database.query(claimDeliveriesSql(names), ['nowhere', 'test', 1000, 1, 1, 1024, null, true]);
    const inWords = Object.keys(CLAIM_COLUMNS).map((name) =>
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    );
    expect(Object.keys(row ?? {})).toEqual(inWords);
  });
});
