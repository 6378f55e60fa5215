import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { inboxMigrations } from 'nestjs-transactional-outbox';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type FailedMessageStore,
  inboxDatabaseOf,
  type MessageFailure,
  type RawMessage,
} from '../../libs/outbox/src/store/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

const FAILURE: MessageFailure = { consumer: 'shipping', messageId: 'e1', eventType: 'order.placed', error: 'no stock' };
const MESSAGE: RawMessage = {
  source: 'queue "orders"',
  contentType: 'application/json',
  headers: { ce_id: 'e1', tenant: 'Müller & Söhne "GmbH"' },
  body: Buffer.from([0x7b, 0x00, 0xff, 0xfe, 0x7d]),
};

describe.each(['postgres', 'sqlite'] as const)('failed messages on %s', (kind) => {
  let place: TestDatabase | string;
  let dataSource: DataSource;
  let store: FailedMessageStore;
  beforeAll(async () => {
    const migrations = inboxMigrations({ database: kind });
    if (kind === 'postgres') {
      place = await createTestDatabase();
      dataSource = new DataSource({ type: 'postgres', url: place.url, migrations });
    } else {
      place = await mkdtemp(join(tmpdir(), 'failed-messages-'));
      const database = join(place, 'inbox.sqlite');
      dataSource = new DataSource({ type: 'better-sqlite3', driver: Database, database, migrations });
    }
    await dataSource.initialize();
    await dataSource.runMigrations();
    store = inboxDatabaseOf(dataSource, {}, { preparesStatements: false }).failed;
  });
  afterAll(async () => {
    await dataSource.destroy();
    if (typeof place === 'string') await rm(place, { recursive: true });
    else await place.drop();
  });
  beforeEach(() => dataSource.query('delete from processed_events_failed'));

  it('are counted for each consumer and message', async () => {
    expect(await store.count(FAILURE)).toBe(1);
    expect(await store.count(FAILURE)).toBe(2);
    expect(await store.count({ ...FAILURE, consumer: 'inventory' })).toBe(1);
    expect(await store.count({ ...FAILURE, messageId: 'e2', eventType: undefined })).toBe(1);
    expect(await store.list({}, 10)).toEqual([]);
  });

  it('are kept as they came when they are parked, with the count of their failures', async () => {
    await store.count(FAILURE);
    await store.count(FAILURE);
    await store.park({ ...FAILURE, error: 'still no stock' }, MESSAGE);
    const parked = await store.list({}, 10);
    expect(parked).toEqual([
      {
        ...FAILURE,
        ...MESSAGE,
        id: expect.any(String),
        error: 'still no stock',
        attempts: 2,
        parkedAt: expect.any(Date),
      },
    ]);
    expect(Math.abs((parked[0]?.parkedAt.getTime() ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  it('that are parked a second time stay one row, with a later time', async () => {
    await store.park(FAILURE, MESSAGE);
    const [first] = await store.list({}, 10);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await store.park({ ...FAILURE, error: 'again' }, MESSAGE);
    const [second, ...others] = await store.list({}, 10);
    expect(others).toEqual([]);
    expect(second).toMatchObject({ id: first?.id, error: 'again' });
    expect(second?.parkedAt.getTime()).toBeGreaterThan(first?.parkedAt.getTime() ?? 0);
  });

  it('are found and removed by consumer and id, oldest first', async () => {
    for (const [consumer, messageId] of [
      ['shipping', 'a'],
      ['inventory', 'a'],
      ['shipping', 'b'],
    ] as const) {
      await store.park({ ...FAILURE, consumer, messageId }, MESSAGE);
    }
    const all = await store.list({}, 10);
    expect(all.map(({ messageId }) => messageId)).toEqual(['a', 'a', 'b']);
    expect((await store.list({ consumer: 'shipping' }, 1)).map(({ messageId }) => messageId)).toEqual(['a']);
    expect(await store.remove({ consumer: 'shipping', ids: [all[1]?.id ?? ''] })).toBe(0);
    expect(await store.remove({ ids: [all[0]?.id ?? '', all[1]?.id ?? ''] })).toBe(2);
    expect(await store.remove({})).toBe(1);
  });

  it('are forgotten when they are old, unless they are parked', async () => {
    await store.count(FAILURE);
    await store.park({ ...FAILURE, messageId: 'parked' }, MESSAGE);
    expect(await store.prune(60_000, 10)).toBe(0);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await store.prune(1, 10)).toBe(1);
    expect(await store.prune(1, 10)).toBe(0);
    expect(await store.list({}, 10)).toHaveLength(1);
  });
});
