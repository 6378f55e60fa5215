import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Test, type TestingModule } from '@nestjs/testing';
import { getDataSourceToken, TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import Database from 'libsql';
import { InboxModule, InboxRetentionService, InboxService } from 'nestjs-transactional-outbox';
import type { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.js';

const HOUR_MS = 3_600_000;

/** An application with the inbox on the given database, which keeps records for a day. */
async function startApp(database: TypeOrmModuleOptions): Promise<TestingModule> {
  const module = await Test.createTestingModule({
    imports: [
      TypeOrmModule.forRoot({ ...database, retryAttempts: 0 }),
      InboxModule.forRoot({
        allowUnsigned: true,
        migrate: 'auto',
        dedupeWindowMs: 24 * HOUR_MS,
        longestRedeliveryMs: 23 * HOUR_MS,
      }),
    ],
  }).compile();
  await module.init();
  return module;
}

/** Processes five events and makes three of them older than the window; answers what is left after pruning. */
async function pruneOld(module: TestingModule, age: string): Promise<{ pruned: number; left: string[] }> {
  const inbox = module.get(InboxService);
  for (const id of ['a', 'b', 'c', 'd', 'e']) {
    await inbox.process(
      { consumer: 'shipping', event: { id, type: 'order.placed', payload: {} } },
      async () => undefined,
    );
  }
  const dataSource = module.get<DataSource>(getDataSourceToken());
  await dataSource.query(`update processed_events set processed_at = ${age} where event_id in ('a', 'b', 'd')`);
  const { records: pruned } = await module.get(InboxRetentionService).prune({ batchSize: 2 });
  const rows: { event_id: string }[] = await dataSource.query(
    'select event_id from processed_events order by event_id',
  );
  return { pruned, left: rows.map(({ event_id }) => event_id) };
}

describe('records that are older than the dedupe window', () => {
  it('go in batches, and younger ones stay, on PostgreSQL', async () => {
    const database = await createTestDatabase();
    const module = await startApp({ type: 'postgres', url: database.url });
    expect(await pruneOld(module, "now() - interval '25 hours'")).toEqual({ pruned: 3, left: ['c', 'e'] });
    await module.close();
    await database.drop();
  });

  it('go in batches, and younger ones stay, on SQLite', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'inbox-retention-'));
    const module = await startApp({ type: 'better-sqlite3', driver: Database, database: join(folder, 'inbox.sqlite') });
    const age = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-25 hours')";
    expect(await pruneOld(module, age)).toEqual({ pruned: 3, left: ['c', 'e'] });
    await module.close();
    await rm(folder, { recursive: true });
  });
});

describe('a dedupe window', () => {
  it('that is not longer than the longest redelivery is refused at start', async () => {
    const start = Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot({ type: 'better-sqlite3', driver: Database, database: ':memory:', retryAttempts: 0 }),
        InboxModule.forRoot({ allowUnsigned: true, dedupeWindowMs: HOUR_MS, longestRedeliveryMs: HOUR_MS }),
      ],
    }).compile();
    await expect(start).rejects.toThrow(
      /"dedupeWindowMs" \(3600000\) must be longer than "longestRedeliveryMs" \(3600000\)/,
    );
  });
});
