import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { type OutboxModuleOptions, outboxSchemaSql } from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { DataSource } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { resolveOptions } from '../../libs/outbox/src/config/index.js';
import { diagnose, type ExaminedInbox, examinedAt, type Finding } from '../../libs/outbox/src/ops/index.js';
import { inboxDatabaseOf } from '../../libs/outbox/src/store/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { OrderNoted, startOutboxApp } from '../support/outbox-app.js';
import { tableNames } from '../support/outbox-queue.js';
import { mayLackPgBouncer, startPgBouncer } from '../support/pgbouncer.js';
import { INBOX_CONFIG, ORDERS_CONFIG, outbox } from './outbox-cli.js';

const DAY_MS = 86_400_000;

interface Configuration {
  readonly outbox?: Partial<OutboxModuleOptions>;
  readonly inbox?: Pick<ExaminedInbox, 'dedupeWindowMs' | 'longestRedeliveryMs'>;
  readonly retainForMs?: number;
  readonly applicationPoolSize?: number;
  readonly url?: string;
}

describe('the doctor', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase();
    await database.query(outboxSchemaSql());
    await database.query(`insert into outbox_destination (destination) values ('memory')`);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await database.drop();
  });

  const options = (given: Partial<OutboxModuleOptions> = {}): OutboxModuleOptions => ({
    destinations: { memory: { transport: new MemoryTransport() } },
    routes: [{ events: [OrderNoted], to: ['memory'] }],
    ...given,
  });
  /** What the check says of this configuration on the database as it is. */
  const ask = async (check: string, given: Configuration = {}): Promise<Finding | undefined> => {
    const dataSource = await new DataSource({ type: 'postgres', url: given.url ?? database.url }).initialize();
    try {
      const resolved = resolveOptions(options(given.outbox));
      const { retainForMs } = given;
      const { component, failed } = inboxDatabaseOf(dataSource, {}, { preparesStatements: false });
      const examined = examinedAt(
        dataSource,
        { names: tableNames, options: resolved },
        given.inbox && { component, failed: { ...failed, list: async () => [] }, indexes: [], ...given.inbox },
      );
      const outbox = examined.outbox && { ...examined.outbox, retainForMs };
      const { applicationPoolSize = examined.applicationPoolSize } = given;
      return (await diagnose({ ...examined, applicationPoolSize, outbox })).find((finding) => finding.check === check);
    } finally {
      await dataSource.destroy();
    }
  };
  const queued = (status: number, destination: string, age = '0 days'): Promise<unknown> =>
    database.query(
      `insert into outbox_delivery (event_id, destination, status, payload_bytes, created_at) values ($1, $2, $3, 2, now() - $4::interval)`,
      [randomUUID(), destination, status, age],
    );
  const logged = (age: string): Promise<unknown> =>
    database.query(
      `insert into outbox_event (id, aggregatetype, aggregateid, type, destinations, created_at) values ($1, 'order', '1', 'x', '{}', now() - $2::interval)`,
      [randomUUID(), age],
    );
  const memory = (given: object): Partial<OutboxModuleOptions> => ({
    destinations: { memory: { transport: new MemoryTransport(), ...given } },
  });

  type Case = readonly [
    check: string,
    wrong: Configuration,
    status: string,
    says: string,
    spoil?: () => Promise<unknown>,
  ];
  const partitionLog = async (bounds: string): Promise<unknown> =>
    database.query(`drop table outbox_event cascade;
      create table outbox_event (id uuid primary key, aggregatetype text, aggregateid text, type text, created_at timestamptz) partition by range (id);
      create index outbox_event_created_at on outbox_event using brin (created_at);
      create table outbox_event_rest partition of outbox_event default;
      create table outbox_event_one partition of outbox_event for values ${bounds}`);

  const CASES: readonly Case[] = [
    [
      'outbox tables',
      {},
      'problem',
      'have version 1',
      () => database.query('update outbox_schema_version set version = 1'),
    ],
    ['inbox tables', { inbox: { dedupeWindowMs: 2, longestRedeliveryMs: 1 } }, 'problem', 'are missing'],
    ['indexes', {}, 'problem', 'outbox_delivery_dead', () => database.query('drop index outbox_delivery_dead')],
    ['lease', { outbox: memory({ leaseMs: 10_500 }) }, 'warning', 'less than 1000 ms'],
    [
      'dedupe window',
      { inbox: { dedupeWindowMs: 6 * DAY_MS, longestRedeliveryMs: DAY_MS } },
      'problem',
      'may come again after 7 days, and is recognised for 6 days',
      () =>
        database.query(
          `insert into outbox_schema_version (component, version, compatible_from) values ('inbox', 1, 1)`,
        ),
    ],
    ['dedupe window', {}, 'warning', 'a dead letter has waited for 20 days', () => queued(1, 'memory', '20 days')],
    ['retention', {}, 'warning', 'nothing says how long'],
    ['retention', { retainForMs: DAY_MS }, 'problem', 'may still be on their way'],
    ['retention', { retainForMs: 30 * DAY_MS }, 'warning', 'of 200 days ago', () => logged('200 days')],
    [
      'partitions',
      {},
      'warning',
      'day after tomorrow',
      () => partitionLog(`from (minvalue) to ('01000000-0000-7000-8000-000000000000')`),
    ],
    [
      'partitions',
      {},
      'warning',
      'default partition',
      async () => {
        await partitionLog(`from (minvalue) to ('01000000-0000-7000-8000-000000000000')`);
        await database.query(`insert into outbox_event (id) values ($1)`, ['019a0000-0000-7000-8000-000000000000']);
      },
    ],
    [
      'served destinations',
      {},
      'warning',
      'no dispatcher has ever',
      () => database.query('delete from outbox_destination'),
    ],
    [
      'served destinations',
      {},
      'problem',
      'events wait for memory',
      () => database.query('delete from outbox_destination').then(() => queued(0, 'memory')),
    ],
    ['orphans', {}, 'problem', 'events are kept for mars', () => queued(0, 'mars')],
    ['orphans', {}, 'problem', 'events are kept for mars', () => queued(1, 'mars')],
    ['connections', { applicationPoolSize: 100_000 }, 'problem', '100000 of the application + 4 of the dispatcher'],
    [
      'vacuum',
      {},
      'problem',
      'is off',
      () => database.query('alter table outbox_delivery set (autovacuum_enabled = false)'),
    ],
    [
      'durability',
      {},
      'warning',
      '"synchronous_commit"',
      () =>
        database.query(
          `do $$ begin execute 'alter database ' || current_database() || ' set synchronous_commit = off'; end $$`,
        ),
    ],
  ];

  for (const [check, wrong, status, says, spoil] of CASES) {
    it(`${check}: a ${status} is found: ${says}`, async () => {
      await spoil?.();
      const found = await ask(check, wrong);
      expect(found).toMatchObject({
        status,
        found: expect.stringContaining(says),
        advice: expect.stringMatching(/\S/),
      });
    });
  }

  it('nothing is found where all is right', async () => {
    await database.query(
      `insert into outbox_schema_version (component, version, compatible_from) values ('inbox', 1, 1)`,
    );
    const right = {
      inbox: { dedupeWindowMs: 30 * DAY_MS, longestRedeliveryMs: 14 * DAY_MS },
      retainForMs: 30 * DAY_MS,
    };
    for (const check of new Set(CASES.map(([name]) => name))) {
      if (check === 'durability') continue; // the embedded server is not durable, and another one may be
      expect([check, (await ask(check, right))?.status]).toEqual([check, check === 'partitions' ? undefined : 'ok']);
    }
    await partitionLog(`from (minvalue) to (maxvalue)`);
    expect(await ask('partitions', right)).toMatchObject({ status: 'ok' });
  });

  it('a clock that is off is found', async () => {
    expect(await ask('clocks')).toMatchObject({ status: 'ok' });
    const now = Date.now.bind(Date);
    vi.spyOn(Date, 'now').mockImplementation(() => now() - 60_000);
    expect(await ask('clocks')).toMatchObject({ status: 'warning', found: expect.stringContaining('60 seconds') });
  });

  it.skipIf(mayLackPgBouncer)('a pooler through which no wake-up comes is found, unless none is expected', async () => {
    const bouncer = await startPgBouncer(database.url, 'pool_mode = transaction');
    const url = bouncer.through(database.url);
    try {
      expect(await ask('pooler')).toMatchObject({ status: 'ok' });
      expect(await ask('pooler', { url })).toMatchObject({ status: 'warning' });
      expect(await ask('pooler', { url, outbox: { dispatcher: { wakeUp: false } } })).toMatchObject({ status: 'ok' });
    } finally {
      await bouncer.close();
    }
  });

  it('is a command that exits with 1 for a problem, and asks missing tables nothing more', async () => {
    const env = { DATABASE_URL: database.url };
    await queued(0, 'mars');
    const { code, out } = await outbox(['doctor', '--config', ORDERS_CONFIG, '--json'], { env });
    expect(code).toBe(1);
    expect(JSON.parse(out).findings).toContainEqual(expect.objectContaining({ check: 'orphans', status: 'problem' }));
    const inbox = await outbox(['doctor', '--config', INBOX_CONFIG], { env });
    expect([inbox.code, inbox.out]).toEqual([1, expect.stringMatching(/^PROBLEM {2}inbox tables .* are missing$/m)]);
    expect(inbox.out).not.toContain('could not be found out');
  });

  describe('at start', () => {
    const start = async (startUpChecks: 'warn' | 'refuse' | 'off'): Promise<string[]> => {
      const said: string[] = [];
      vi.spyOn(Logger.prototype, 'warn').mockImplementation((message: unknown) => void said.push(String(message)));
      const dataSource = await new DataSource({ type: 'postgres', url: database.url }).initialize();
      const app = await startOutboxApp({ database, dataSource, outbox: { startUpChecks } });
      await app.close();
      return said.filter((line) => line.includes('start-up check'));
    };

    it('warns, refuses or keeps silent about a problem, as it is told', async () => {
      expect((await start('refuse')).filter((line) => line.includes('problem'))).toEqual([]);
      await queued(0, 'mars');
      expect((await start('warn')).join()).toContain('start-up check found a problem check="orphans"');
      expect(await start('off')).toEqual([]);
      await expect(start('refuse')).rejects.toThrow('the start-up check "orphans" found a problem');
    });
  });
});
