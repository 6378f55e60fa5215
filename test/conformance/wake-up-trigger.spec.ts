import { randomUUID } from 'node:crypto';
import {
  type OutboxSchemaOptions,
  outboxSchemaSql,
  outboxWakeUpTriggerDownSql,
  outboxWakeUpTriggerSql,
} from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveSchema, resolveTables } from '../../libs/outbox/src/config/index.js';
import { outboxNames, wakeUpChannel } from '../../libs/outbox/src/store/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { type OutboxApp, startOutboxApp } from '../support/outbox-app.js';

const HOUR_MS = 3_600_000;
const LISTENERS = `select pid from pg_stat_activity
  where datname = current_database() and application_name like '%:outbox-listen' and query like 'listen%'`;
/** As somebody writes who has only psql. */
const INSERT_EVENT = `with event as (
  insert into outbox_event (id, aggregatetype, aggregateid, type, payload, destinations)
  values ($1, 'order', '42', 'order.noted', '{"orderId": "42"}', '{memory}')
  returning id, payload
)
insert into outbox_delivery (event_id, destination, payload_bytes)
select id, 'memory', octet_length(payload::text) from event`;
const INSERT_DELIVERIES = `insert into outbox_delivery (event_id, destination, payload_bytes)
select gen_random_uuid(), destination, 1 from unnest($1::text[]) as destination`;
const TRIGGERS = `select tgname from pg_trigger where not tgisinternal
  union all select proname from pg_proc where pronamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`;

describe('the trigger for writers outside the library', () => {
  let database: TestDatabase;
  const clients: pg.Client[] = [];
  beforeEach(async () => {
    database = await createTestDatabase();
    await database.query(outboxSchemaSql());
    await database.query(outboxWakeUpTriggerSql());
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.end()));
    await database.drop();
  });

  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client(database.url);
    await client.connect();
    clients.push(client);
    return client;
  };
  /** Payloads of the notifications, as they come in. */
  const hear = async (options: OutboxSchemaOptions = {}): Promise<string[]> => {
    const heard: string[] = [];
    const listener = await connect();
    listener.on('notification', ({ payload = '' }) => heard.push(payload));
    await listener.query(
      `listen "${wakeUpChannel(outboxNames(resolveSchema(options.schema), resolveTables(options.tables)))}"`,
    );
    return heard;
  };

  describe('with a dispatcher that would poll once an hour', () => {
    let app: OutboxApp;
    beforeEach(async () => {
      app = await startOutboxApp({
        database,
        memory: new MemoryTransport(),
        outbox: { dispatcher: { schedule: 'loop', pollIntervalMs: HOUR_MS } },
      });
      await eventually(async () => expect(await database.query(LISTENERS)).toHaveLength(1));
    });
    afterEach(() => app.close());

    it('has what plain SQL inserts delivered at once', async () => {
      for (let count = 1; count <= 3; count += 1) {
        const id = randomUUID();
        await database.query('select pg_sleep(0.2)'); // the looks that the one before gave rise to are over
        await database.query(INSERT_EVENT, [id]);
        const received = await app.memory.waitForCount(count, 10_000);
        expect(received.at(-1)?.envelope).toMatchObject({ id, type: 'order.noted', payload: { orderId: '42' } });
      }
    });
  });

  it('notifies once for each destination of a statement, however many rows it inserts', async () => {
    const heard = await hear();
    const destinations = Array.from({ length: 999 }, (_, index) => ['a', 'b', 'c'][index % 3]);
    await database.query(INSERT_DELIVERIES, [destinations]);
    await eventually(() => expect(heard.toSorted()).toEqual(['a', 'b', 'c']));
    await database.query('delete from outbox_delivery');
    await database.query(INSERT_DELIVERIES, [['last']]);
    await eventually(() => expect(heard.at(-1)).toBe('last'));
    expect(heard).toHaveLength(4);
  });

  it('says nothing of what is rolled back', async () => {
    const heard = await hear();
    const writer = await connect();
    await writer.query('begin');
    await writer.query(INSERT_DELIVERIES, [['a']]);
    await writer.query('rollback');
    await writer.query(INSERT_DELIVERIES, [['b']]);
    await eventually(() => expect(heard).toEqual(['b']));
  });

  it('lets one of the transactions that write at the same time notify, and none of them waits', async () => {
    const heard = await hear();
    const [first, second] = [await connect(), await connect()];
    await second.query(`set lock_timeout = '2s'`);
    await first.query('begin');
    await first.query(INSERT_DELIVERIES, [['a']]);
    await second.query('begin');
    await second.query(INSERT_DELIVERIES, [['a', 'b']]);
    await second.query('commit');
    // Another destination is another matter.
    await eventually(() => expect(heard).toEqual(['b']));
    await first.query('commit');
    await eventually(() => expect(heard).toEqual(['b', 'a']));
    await second.query(INSERT_DELIVERIES, [['a']]);
    await eventually(() => expect(heard).toEqual(['b', 'a', 'a']));
  });

  it('asks for no right beside that to insert', async () => {
    const heard = await hear();
    const role = `writer_${randomUUID().replaceAll('-', '')}`;
    await database.query(`create role ${role}; grant insert, select on outbox_event, outbox_delivery to ${role}`);
    const writer = await connect();
    await writer.query(`set role ${role}`);
    await writer.query(INSERT_EVENT, [randomUUID()]);
    await eventually(() => expect(heard).toEqual(['memory']));
    await writer.query('reset role');
    await writer.query(`drop owned by ${role}; drop role ${role}`);
  });

  it('can be installed twice, and goes without a trace, also twice', async () => {
    await database.query(outboxWakeUpTriggerSql());
    expect(await database.query(TRIGGERS)).toHaveLength(2);
    await database.query(outboxWakeUpTriggerDownSql());
    expect(await database.query(TRIGGERS)).toEqual([]);
    await database.query(outboxWakeUpTriggerDownSql());
  });

  it('fits other schemas and names', async () => {
    const options = { schema: `it's "odd"`, tables: { delivery: `Lieferung "€" $1` } };
    await database.query(`create schema "it's ""odd"""`);
    await database.query(outboxSchemaSql(options));
    await database.query(outboxWakeUpTriggerSql(options));
    const heard = await hear(options);
    const { delivery } = outboxNames(options.schema, resolveTables(options.tables));
    await database.query(
      INSERT_DELIVERIES.replace('outbox_delivery', () => delivery),
      [['elsewhere']],
    );
    await eventually(() => expect(heard).toEqual(['elsewhere']));
    await database.query(outboxWakeUpTriggerDownSql(options));
    expect(await database.query(TRIGGERS)).toHaveLength(2); // those of the default names
  });
});
