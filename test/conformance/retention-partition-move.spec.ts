import { randomUUID } from 'node:crypto';
import { PartitionService, RetentionService } from 'nestjs-transactional-outbox';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataSourceClient, PostgresLogConversion, Turns } from '../../libs/outbox/src/store/index.js';
import { emitConstantly } from '../support/constant-emits.js';
import { eventually } from '../support/eventually.js';
import { noted, type OutboxApp, startOutboxApp } from '../support/outbox-app.js';
import { tableNames } from '../support/outbox-queue.js';
import { DAY_MS, logEvents, partitionOf, partitionsOf } from '../support/partitioned-log.js';

const CONSTRAINTS = `select conname from pg_constraint where conrelid = 'outbox_event'::regclass and contype = 'c'`;

describe('moving a log to partitions', { timeout: 60_000 }, () => {
  let app: OutboxApp;
  let partitions: PartitionService;
  beforeEach(async () => {
    app = await startOutboxApp({ outbox: { dispatcher: { schedule: 'loop' } } });
    partitions = app.module.get(PartitionService);
  });
  afterEach(() => app.close());

  const query = (sql: string): Promise<Record<string, unknown>[]> => app.database.query(sql);
  const emit = (): Promise<string[]> => app.outbox.transaction(() => app.outbox.emit(noted(randomUUID())));
  const conversion = (): PostgresLogConversion =>
    new PostgresLogConversion(new DataSourceClient(app.dataSource), tableNames, new Turns(app.dataSource, 'test'));

  it('happens while events are emitted and delivered, none of which fails, is lost or comes twice', async () => {
    await logEvents(app, { daysAgo: 20, delivered: 20_000, dead: 1 });
    const emits = emitConstantly(app, 4);
    await eventually(() => expect(emits.count).toBeGreaterThan(20));
    expect(await partitions.partition()).toBe('partitioned');
    const after = emits.count;
    await eventually(() => expect(emits.count).toBeGreaterThan(after + 50));
    const orders = await emits.stop();

    expect((await partitionsOf(app)).slice(0, 2)).toEqual(['outbox_event_default', 'outbox_event_legacy']);
    expect(await partitionsOf(app)).toContain(partitionOf(-7));
    const logged = await query(`select aggregateid from outbox_event where aggregateid !~ '^o'`);
    expect(logged.map(({ aggregateid }) => aggregateid).toSorted()).toEqual(orders.toSorted());
    expect(await query(`select from outbox_event_legacy where aggregateid ~ '^o'`)).toHaveLength(20_001);
    await app.memory.waitForCount(orders.length, 20_000);
    expect(app.memory.accepted.map(({ envelope }) => envelope.aggregateId).toSorted()).toEqual(orders.toSorted());
    await eventually(async () =>
      expect(await query('select state, count(*)::int from outbox_event_status group by state order by state')).toEqual(
        [
          { state: 'dead', count: 1 },
          { state: 'done', count: 20_000 + orders.length },
        ],
      ),
    );
    expect(await query(CONSTRAINTS)).toEqual([]);
    expect(await partitions.partition()).toBe('already');
  });

  it('waits for a long transaction without keeping others from emitting, and ends when it has', async () => {
    let commit = (): void => undefined;
    const long = app.outbox.transaction(async () => {
      await app.outbox.emit(noted(randomUUID()));
      await new Promise<void>((resolve) => {
        commit = resolve;
      });
    });
    await eventually(async () => expect(await query('select from outbox_event')).toEqual([]));
    const moved = partitions.partition({ lockTimeoutMs: 50, attempts: 1000 });
    for (let count = 0; count < 20; count += 1) await emit();
    expect(await partitionsOf(app)).toEqual([]);
    commit();
    await long;
    expect(await moved).toBe('partitioned');
    expect(await query('select from outbox_event')).toHaveLength(21);
  });

  it('gives up when it does not get its locks, leaves nothing behind, and can be asked again', async () => {
    const client = new pg.Client(app.database.url);
    await client.connect();
    await client.query('begin; lock table outbox_event in row exclusive mode');
    await expect(partitions.partition({ lockTimeoutMs: 20, attempts: 2 })).rejects.toMatchObject({
      code: 'OUTBOX_UPKEEP_POSTPONED',
      retryable: true,
    });
    await client.end();
    expect(await query(CONSTRAINTS)).toEqual([]);
    expect(await partitions.partition()).toBe('partitioned');
  });

  it('by two at once is done once', async () => {
    await emit();
    const outcomes = await Promise.all([partitions.partition(), partitions.partition()]);
    expect(outcomes.toSorted()).toEqual(['already', 'partitioned']);
    expect(await query('select from outbox_event')).toHaveLength(1);
  });

  it('whose process died half way: the next maintenance takes the promise back that would refuse events in a week', async () => {
    await emit();
    expect(await conversion().promise(Date.now() + 7 * DAY_MS, 1000)).toEqual({ isOurs: true, result: 'promised' });
    expect(await query(CONSTRAINTS)).toEqual([{ conname: 'outbox_partition_bound' }]);
    expect(await partitions.maintain()).toMatchObject({ isPartitioned: false, yielded: false });
    expect(await query(CONSTRAINTS)).toEqual([]);
  });

  it('does not swap on the promise of another attempt, or on one that was not proven', async () => {
    await emit();
    const until = Math.ceil(Date.now() / DAY_MS) * DAY_MS + 7 * DAY_MS;
    await conversion().promise(until, 1000);
    expect(await conversion().swap(until, 1000)).toEqual({ isOurs: true, result: 'not prepared' });
    await conversion().prove(1000);
    expect(await conversion().swap(until + DAY_MS, 1000)).toEqual({ isOurs: true, result: 'not prepared' });
    expect(await conversion().swap(until, 1000)).toEqual({ isOurs: true, result: 'partitioned' });
  });

  it('is refused when ids are no UUID version 7, or of a time to come, and nothing is changed', async () => {
    const insert = (id: string): Promise<unknown> =>
      query(
        `insert into outbox_event (id, aggregatetype, aggregateid, type, destinations) values ('${id}', 'o', 'o', 't', '{}')`,
      );
    const refused = (text: RegExp): Promise<void> => expect(partitions.partition()).rejects.toThrow(text);
    await insert('00000000-0000-4000-8000-000000000000');
    await refused(/event 00000000-0000-4000-8000-000000000000 has an id that is no UUID version 7/);
    await query('delete from outbox_event');
    await insert('ff000000-0000-7000-8000-000000000000');
    await refused(/holds ids of a time that is yet to come/);
    expect(await partitionsOf(app)).toEqual([]);
    expect(await query(CONSTRAINTS)).toEqual([]);
  });

  it.each([
    [
      'foreign key audit_event_fkey of audit',
      'create table audit (event uuid constraint audit_event_fkey references outbox_event)',
    ],
    [
      'trigger "Seen"',
      'create trigger "Seen" before insert on outbox_event for each row execute function suppress_redundant_updates_trigger()',
    ],
    ['row-level security', 'alter table outbox_event enable row level security'],
    ['materialized view daily reads it', 'create materialized view daily as select count(*) from outbox_event'],
    [
      'function events() reads it',
      'create function events() returns bigint language sql begin atomic select count(*) from outbox_event; end',
    ],
    ['replica identity f', 'alter table outbox_event replica identity full'],
    ['unique index once without the column id', 'create unique index once on outbox_event (aggregateid, sequence)'],
    ['rule quiet', 'create rule quiet as on delete to outbox_event do instead nothing'],
    ['inheritance from or by other tables', 'create table more () inherits (outbox_event)'],
    ['publication cdc would name partitions', 'create publication cdc for table outbox_event'],
  ])('is refused, and nothing is changed, for a %s', async (obstacle, statement) => {
    await query(statement);
    await expect(partitions.partition()).rejects.toMatchObject({
      code: 'OUTBOX_CONFIGURATION',
      message: expect.stringContaining(obstacle),
    });
    expect(await query(`select relkind from pg_class where oid = 'outbox_event'::regclass`)).toEqual([
      { relkind: 'r' },
    ]);
    expect(await query(CONSTRAINTS)).toEqual([]);
  });

  it('takes what an empty log has no use for away: there is no partition of before', async () => {
    expect(await partitions.partition()).toBe('partitioned');
    expect(await partitionsOf(app)).toEqual([
      'outbox_event_default',
      ...[0, -1, -2, -3, -4, -5, -6, -7].map(partitionOf),
    ]);
  });

  it('leaves the retention of what was there before to batches, until its partition as a whole is old', async () => {
    await logEvents(app, { daysAgo: 20, delivered: 30, dead: 1 });
    await partitions.partition();
    const report = await app.module.get(RetentionService).enforce({ deliveredForMs: 10 * DAY_MS, batchSize: 7 });
    expect(report).toMatchObject({ events: 30, yielded: false, partitions: { dropped: [], kept: [] } });
    expect(await query('select from outbox_event')).toHaveLength(1);
  });
});

describe('what hangs on the log', () => {
  let app: OutboxApp;
  const role = `clerk_${randomUUID().replaceAll('-', '')}`;
  beforeEach(async () => {
    app = await startOutboxApp();
    await app.database.query(`create role ${role}`);
  });
  afterEach(async () => {
    await app.database.query(`reassign owned by ${role} to current_user`);
    await app.database.query(`drop owned by ${role}`);
    await app.database.query(`drop role ${role}`);
    await app.close();
  });

  it('goes along when it is moved: owner, rights, comment, columns, indexes, views, publications', async () => {
    const { query } = app.database;
    await app.outbox.transaction(() => app.outbox.emit(noted(randomUUID())));
    for (const statement of [
      "alter table outbox_event add column tenant text default 'none'",
      'create index by_aggregate on outbox_event (aggregateid)',
      "comment on table outbox_event is 'it''s ours'",
      `create view recent with (security_barrier = true) as select id, type from outbox_event where created_at > now() - interval '1 day'`,
      `create view names as select type from recent`,
      'grant select, insert on outbox_event to pg_monitor with grant option',
      'grant select on outbox_event to public',
      'grant update (headers) on outbox_event to public',
      `grant select on recent to ${role}`,
      'create publication cdc for table outbox_event, orders with (publish_via_partition_root = true)',
      `grant create on schema public to ${role}`,
      `alter table outbox_event owner to ${role}`,
    ]) {
      await query(statement);
    }
    const facts = () =>
      query(`select pg_get_userbyid(relowner) as owner, obj_description(c.oid) as comment,
        (select jsonb_object_agg(a.privilege_type || ' ' || a.grantee::regrole, a.is_grantable) from aclexplode(c.relacl) a where a.grantee <> c.relowner) as acl,
        (select attacl::text from pg_attribute where attrelid = c.oid and attname = 'headers') as column_acl,
        (select array_agg(attname order by attnum) from pg_attribute where attrelid = c.oid and attnum > 0) as columns,
        (select count(*)::int from pg_index where indrelid = c.oid) as indexes,
        (select array_agg(pubname::text || ' ' || tablename order by tablename) from pg_publication_tables) as published,
        (select array_agg(relname::text || reloptions::text order by relname) from pg_class where relname in ('recent', 'names')) as views,
        has_table_privilege('${role}', 'recent', 'select') as may_read_view
      from pg_class c where c.oid = 'outbox_event'::regclass`);
    const before = await facts();
    await app.module.get(PartitionService).partition();
    expect(await facts()).toEqual(before);

    await app.outbox.transaction(() => app.outbox.emit(noted(randomUUID())));
    expect(await app.dispatcher.drain()).toMatchObject({ delivered: 2 });
    // Of a day that is not one of those that the old log took.
    await logEvents(app, { daysAgo: -8, pending: 1 });
    expect(await query('select type from names')).toHaveLength(3);
    expect(await query('select state from outbox_event_status order by state')).toEqual(
      ['done', 'done', 'pending'].map((state) => ({ state })),
    );
    const owners =
      await query(`select distinct relowner::regrole::text as owner from pg_inherits join pg_class on oid = inhrelid
      where inhparent = 'outbox_event'::regclass`);
    expect(owners).toEqual([{ owner: role }]);
  });
});
