import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type CliResult, INBOX_CONFIG, ORDERS_CONFIG, outbox, outboxHere } from './outbox-cli.js';

const orderStep = (id: string): string =>
  JSON.stringify({ specversion: '1.0', id, source: '/orders', type: 'order.step', data: {} });

describe('the program outbox', { timeout: 120_000 }, () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => database.drop());

  const run = (config: string, args: readonly string[], env: Record<string, string> = {}): Promise<CliResult> =>
    outbox([...args, '--config', config], { env: { DATABASE_URL: database.url, ...env } });
  const here = (...args: string[]): Promise<CliResult> => outboxHere(args, { env: { DATABASE_URL: database.url } });
  const tables = async (): Promise<number> =>
    (await database.query(`select from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`)).length;

  it('migrates when it is told to, says beforehand what it would do, and does it once', async () => {
    const dry = await run(ORDERS_CONFIG, ['migrate', '--dry-run']);
    expect([dry.code, dry.out]).toEqual([0, expect.stringContaining('1 event-log-and-delivery-queue, 2 operations')]);
    expect((await run(ORDERS_CONFIG, ['migrate'])).code).toBe(2);
    expect(await tables()).toBe(0);
    const done = await run(ORDERS_CONFIG, ['migrate', '--yes']);
    expect(done).toMatchObject({ code: 0, out: 'The outbox tables went from version 0 to 2.\n' });
    expect((await run(ORDERS_CONFIG, ['migrate', '--yes'])).out).toBe('The tables are up to date.\n');
    expect((await run(ORDERS_CONFIG, ['status'])).code).toBe(0);
  });

  it('migrates both sides, into the schema that it is told', async () => {
    const args = ['migrate', '--inbox', '--yes', '--schema', 'messaging', '--url', database.url];
    expect((await outboxHere(args)).code).toBe(0);
    expect(await database.query(`select component from messaging.outbox_schema_version order by 1`)).toEqual([
      { component: 'inbox' },
      { component: 'outbox' },
    ]);
  });

  it.each([
    ['outbox', [], 'outbox_event'],
    ['inbox', ['--inbox'], 'processed_events'],
  ])('prints SQL that makes the tables of the %s, without a database', async (_, options, table) => {
    const { out, code } = await outboxHere(['sql', ...options, '--schema', 'messaging']);
    expect(code).toBe(0);
    await database.query(out);
    expect(await database.query(`select from messaging.${table}`)).toEqual([]);
  });

  describe('with parked messages', () => {
    beforeEach(async () => {
      await here('migrate', '--inbox', '--yes');
      await database.query('create table effects (id int generated always as identity)');
      for (const id of ['step-1', 'broken']) {
        await database.query(
          `insert into processed_events_failed (consumer_name, message_id, event_type, last_error, parked_at, source, content_type, headers, body)
           values ('shipping', $1, 'order.step', 'the handler failed', now(), 'queue orders', 'application/cloudevents+json', '{}', $2)`,
          [id, Buffer.from(orderStep(id))],
        );
      }
    });
    const effects = async (): Promise<number> => (await database.query('select from effects')).length;
    const parked = async (): Promise<number> =>
      (await database.query('select from processed_events_failed where parked_at is not null')).length;

    it('shows them without what is in them', async () => {
      const { out, code } = await here('inbox', 'parked');
      expect([code, out]).toEqual([0, expect.stringContaining('the handler failed')]);
      expect((await here('inbox', 'parked', '--json')).out).not.toContain('specversion');
    });

    it('redrives them through the handlers of the application, and says what failed again', async () => {
      const { code, out } = await run(INBOX_CONFIG, ['inbox', 'redrive', '--all', '--yes'], { APP: 'yes' });
      expect([code, out]).toEqual([1, '1 processed, 1 failed again.\n']);
      expect([await effects(), await parked()]).toEqual([1, 1]);
    });

    it('cannot redrive without the application, and says so', async () => {
      const { code, err } = await run(INBOX_CONFIG, ['inbox', 'redrive', '--all', '--yes']);
      expect([code, err]).toEqual([2, expect.stringContaining('Give the configuration "app"')]);
      expect([await effects(), await parked()]).toEqual([0, 2]);
    });

    it('discards those that are named, and asks for names', async () => {
      expect((await here('inbox', 'discard', '--yes')).code).toBe(2);
      expect((await here('inbox', 'discard', '--consumer', 'nobody', '--yes')).code).toBe(1);
      expect(await parked()).toBe(2);
      expect((await here('inbox', 'discard', '1', '--yes')).out).toBe('1 parked message discarded.\n');
      expect(await parked()).toBe(1);
    });
  });
});
