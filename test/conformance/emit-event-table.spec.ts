import { randomUUID } from 'node:crypto';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noted, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';

const memory = new MemoryTransport({
  respond: ({ envelope }, attempt) => {
    if (envelope.type === 'order.step') return { kind: 'dead', error: 'refused for good' };
    return attempt === 1 ? { kind: 'retry', error: 'not yet' } : { kind: 'delivered' };
  },
});

// https://debezium.io/documentation/reference/stable/transformations/outbox-event-router.html, "Basic outbox table".
describe("the event log, read by Debezium's Outbox Event Router as it is", () => {
  let app: OutboxApp;
  beforeAll(async () => {
    app = await startOutboxApp({
      memory,
      outbox: { destinations: { memory: { transport: memory, retryBaseMs: 1, retryCapMs: 1 } } },
    });
  });
  afterAll(() => app.close());

  it('has the columns that the router looks for by default, with types that it can read', async () => {
    const columns = await app.database.query(
      `select column_name, data_type, character_maximum_length as length, is_nullable
       from information_schema.columns where table_name = 'outbox_event'
         and column_name in ('id', 'aggregatetype', 'aggregateid', 'type', 'payload') order by ordinal_position`,
    );
    expect(columns).toEqual([
      { column_name: 'id', data_type: 'uuid', length: null, is_nullable: 'NO' },
      { column_name: 'aggregatetype', data_type: 'character varying', length: 255, is_nullable: 'NO' },
      { column_name: 'aggregateid', data_type: 'character varying', length: 255, is_nullable: 'NO' },
      { column_name: 'type', data_type: 'character varying', length: 255, is_nullable: 'NO' },
      { column_name: 'payload', data_type: 'jsonb', length: null, is_nullable: 'YES' },
    ]);
  });

  it('identifies a row by its id, which a replica needs', async () => {
    expect(
      await app.database.query(
        `select a.attname as column_name from pg_index i
         join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
         where i.indrelid = 'outbox_event'::regclass and i.indisprimary`,
      ),
    ).toEqual([{ column_name: 'id' }]);
  });

  it('holds the topic, the key, the type and the value just as they were declared and emitted', async () => {
    const orderId = randomUUID();
    const [id] = await app.outbox.transaction(() => app.outbox.emit(noted(orderId, 5)));
    expect(
      await app.database.query('select aggregatetype, aggregateid, type, payload from outbox_event where id = $1', [
        id,
      ]),
    ).toEqual([
      { aggregatetype: 'order', aggregateid: orderId, type: 'order.noted', payload: { orderId, amountCents: 5 } },
    ]);
  });

  it('is only ever inserted into: attempts, retries and dead letters leave it alone', async () => {
    await app.database.query(
      `create function refuse() returns trigger language plpgsql as $$ begin raise 'the event log was changed'; end $$`,
    );
    await app.database.query(
      'create trigger refuse before update or delete on outbox_event for each row execute function refuse()',
    );
    const [retried] = await app.outbox.transaction(() => app.outbox.emit([noted(randomUUID()), step(randomUUID(), 1)]));
    const states = async () => {
      await app.dispatcher.drain();
      return app.database.query('select state, attempts from outbox_event_status where event_id = $1', [retried]);
    };
    await expect.poll(states, { timeout: 10_000 }).toEqual([{ state: 'done', attempts: null }]);
    const attempts = memory.received.filter(({ envelope }) => envelope.id === retried).map(({ attempt }) => attempt);
    expect(attempts).toEqual([1, 2]);
    expect(await app.database.query(`select state from outbox_event_status where type = 'order.step'`)).toEqual([
      { state: 'dead' },
    ]);
  });
});
