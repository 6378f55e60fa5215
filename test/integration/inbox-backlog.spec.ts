import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Test } from '@nestjs/testing';
import { getDataSourceToken, TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import Database from 'libsql';
import { type ConsumerBacklog, InboxBacklogService, InboxModule, InboxService } from 'nestjs-transactional-outbox';
import type { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.js';

const FAILURE = `insert into processed_events_failed (consumer_name, message_id, last_error, parked_at, source, content_type, headers, body)`;

/** What is told after two events were processed, one of them long ago, and of three that failed one is parked. */
async function readBacklog(
  database: TypeOrmModuleOptions,
  longAgo: string,
  now: string,
): Promise<readonly ConsumerBacklog[]> {
  const module = await Test.createTestingModule({
    imports: [
      TypeOrmModule.forRoot({ ...database, retryAttempts: 0 }),
      InboxModule.forRoot({ allowUnsigned: true, migrate: 'auto' }),
    ],
  }).compile();
  await module.init();
  for (const id of ['old', 'new']) {
    const event = { id, type: 'order.placed', payload: {} };
    await module.get(InboxService).process({ consumer: 'shipping', event }, async () => undefined);
  }
  const dataSource = module.get<DataSource>(getDataSourceToken());
  await dataSource.query(`update processed_events set processed_at = ${longAgo} where event_id = 'old'`);
  await dataSource.query(`${FAILURE} values
    ('shipping', 'm1', 'no', null, null, null, null, null), ('stock', 'm1', 'no', null, null, null, null, null),
    ('stock', 'm2', 'no', ${now}, 'queue', 'text/plain', '{}', 'x')`);
  const backlog = await module.get(InboxBacklogService).read({ windowMs: 60_000 });
  await module.close();
  return backlog;
}

describe('the backlog of an inbox counts what was processed lately, what fails and what is parked, for each consumer', () => {
  const expected = [
    { consumer: 'shipping', processed: 1, failing: 1, parked: 0 },
    { consumer: 'stock', processed: 0, failing: 1, parked: 1 },
  ];

  it('on PostgreSQL', async () => {
    const database = await createTestDatabase();
    const options = { type: 'postgres', url: database.url } as const;
    expect(await readBacklog(options, "now() - interval '2 minutes'", 'now()')).toEqual(expected);
    await database.drop();
  });

  it('on SQLite', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'inbox-backlog-'));
    const options = { type: 'better-sqlite3', driver: Database, database: join(folder, 'inbox.sqlite') } as const;
    const at = (change: string): string => `strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '${change}')`;
    expect(await readBacklog(options, at('-2 minutes'), at('-0 seconds'))).toEqual(expected);
    await rm(folder, { recursive: true });
  });
});
