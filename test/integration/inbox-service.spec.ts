import { randomBytes } from 'node:crypto';
import { Test, type TestingModule } from '@nestjs/testing';
import { getDataSourceToken, getRepositoryToken } from '@nestjs/typeorm';
import {
  InboxConflictError,
  type InboxMessage,
  InboxRefusedError,
  InboxService,
  InboxUnavailableError,
  LimitExceededError,
  NoActiveTransactionError,
  OutboxModule,
  OutboxService,
  TransactionNotCommittedError,
  UnserializablePayloadError,
} from 'nestjs-transactional-outbox';
import pg from 'pg';
import { DataSource, type Repository } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { inboxImports, OrderPaid, orderPlaced, Shipment } from './inbox-app.js';

describe('InboxService.process()', () => {
  let database: TestDatabase;
  let module: TestingModule;
  let inbox: InboxService;
  let outbox: OutboxService;
  let dataSource: DataSource;
  let shipments: Repository<Shipment>;

  beforeAll(async () => {
    database = await createTestDatabase();
    module = await Test.createTestingModule({
      imports:
        inboxImports(database, {
          inbox: { waitMs: 300 },
          imports: [
            OutboxModule.forRoot({
              destinations: {},
              routes: [{ events: [OrderPaid], to: [] }],
              migrate: 'auto',
              dispatcher: { enabled: false },
            }),
          ],
        }) ?? [],
    }).compile();
    await module.init();
    inbox = module.get(InboxService);
    outbox = module.get(OutboxService);
    dataSource = module.get(getDataSourceToken());
    shipments = module.get(getRepositoryToken(Shipment));
  });

  beforeEach(async () => {
    await database.query('truncate shipments, processed_events, outbox_event restart identity');
  });

  afterAll(async () => {
    await module.close();
    await database.drop();
  });

  function message(more: Partial<InboxMessage> = {}, amountCents?: number, id?: string): InboxMessage {
    const { data, ...event } = orderPlaced(amountCents, id);
    return { consumer: 'by hand', event: { ...event, payload: data }, ...more };
  }

  const ship = (): Promise<Shipment> => shipments.save({ orderId: 'order-1' });

  async function expectRows(expected: { shipments: number; records: number; events?: number }): Promise<void> {
    const [row] = await database.query(
      `select (select count(*)::int from shipments) as shipments,
        (select count(*)::int from processed_events) as records,
        (select count(*)::int from outbox_event) as events`,
    );
    expect(row).toEqual({ events: 0, ...expected });
  }

  it('runs the handler once and says which of both it was', async () => {
    const one = message();

    expect(await inbox.process(one, ship)).toEqual({
      outcome: 'processed',
      result: { id: 1, orderId: 'order-1', consumer: 'shipping' },
    });
    expect(await inbox.process(one, ship)).toEqual({ outcome: 'duplicate', result: undefined });
    await expectRows({ shipments: 1, records: 1 });
  });

  it('asks PostgreSQL three times for a duplicate, and keeps the statement that records prepared', async () => {
    const one = message({ keepResult: true });
    await inbox.process(one, ship);
    await inbox.process(one, ship);
    const query = vi.spyOn(pg.Client.prototype, 'query');
    try {
      const duplicate = await inbox.process(one, ship);
      expect(duplicate).toMatchObject({ outcome: 'duplicate', result: { orderId: 'order-1' } });
      expect(query).toHaveBeenCalledTimes(3);
    } finally {
      query.mockRestore();
    }
    const [kept] = await dataSource.query(
      `select count(*)::int as count from pg_prepared_statements where name like 'outbox_inbox%'`,
    );
    expect(kept).toEqual({ count: 1 });
  });

  it('gives the handler the manager of the transaction, in which injected repositories take part', async () => {
    await inbox.process(message(), async (manager) => {
      await ship();
      expect(await manager.count(Shipment)).toBe(1);
      expect(await database.query('select 1 from shipments')).toEqual([]);
    });
    await expectRows({ shipments: 1, records: 1 });
  });

  it('stores what the handler emits in the same transaction, and nothing when the handler fails', async () => {
    const paid = Object.assign(new OrderPaid(), { orderId: '0198c0de-0000-7000-8000-000000000001' });
    const emit = async (): Promise<void> => {
      await ship();
      await outbox.emit(paid);
    };

    const failure = new Error('after the emit');
    await expect(inbox.process(message(), () => emit().then(() => Promise.reject(failure)))).rejects.toBe(failure);
    await expectRows({ shipments: 0, records: 0, events: 0 });

    await inbox.process(message(), emit);
    await expectRows({ shipments: 1, records: 1, events: 1 });
  });

  it('joins the transaction that outbox.transaction() opened, and goes with it', async () => {
    const one = message();
    const attempt = outbox.transaction(async () => {
      await inbox.process(one, ship);
      throw new Error('the caller gives up');
    });
    await expect(attempt).rejects.toThrow('the caller gives up');
    await expectRows({ shipments: 0, records: 0 });

    await outbox.transaction(() => inbox.process(one, ship));
    await expectRows({ shipments: 1, records: 1 });
  });

  it('joins the transaction of a manager that it is given', async () => {
    const one = message();
    await dataSource.transaction(async (manager) => {
      await inbox.process(one, ship, { manager });
      await expectRows({ shipments: 0, records: 0 });
      expect((await inbox.process(one, ship, { manager })).outcome).toBe('duplicate');
    });
    await expectRows({ shipments: 1, records: 1 });
  });

  it('refuses a manager that has no transaction, or another one than it is called in', async () => {
    await expect(inbox.process(message(), ship, { manager: dataSource.manager })).rejects.toThrow(
      NoActiveTransactionError,
    );
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    try {
      const mixed = outbox.transaction(() => inbox.process(message(), ship, { manager: runner.manager }));
      await expect(mixed).rejects.toThrow(NoActiveTransactionError);
    } finally {
      await runner.rollbackTransaction();
      await runner.release();
    }
    await expectRows({ shipments: 0, records: 0 });
  });

  it('tells a caller with its own transaction when that can no longer be committed', async () => {
    const swallowing = async (): Promise<void> => {
      await dataSource.query('select 1 / 0').catch(() => undefined);
    };
    let failure: unknown;
    await dataSource.transaction(async (manager) => {
      failure = await inbox.process(message(), swallowing, { manager }).catch((error: unknown) => error);
    });
    expect(failure).toBeInstanceOf(TransactionNotCommittedError);
    await expectRows({ shipments: 0, records: 0 });
  });

  it('tells a handler that swallowed a database error, when the transaction is its own', async () => {
    const swallowing = async (): Promise<void> => {
      await dataSource.query('select 1 / 0').catch(() => undefined);
    };
    await expect(inbox.process(message(), swallowing)).rejects.toThrow(TransactionNotCommittedError);
    await expectRows({ shipments: 0, records: 0 });
  });

  it('does not mind an error that the handler caught around a nested transaction', async () => {
    await inbox.process(message(), async (manager) => {
      await manager.transaction((nested) => nested.query('select 1 / 0')).catch(() => undefined);
      await ship();
    });
    await expectRows({ shipments: 1, records: 1 });
  });

  it('takes an event that the handler processes once more by itself for a duplicate, and does not wait for it', async () => {
    const one = message();
    const { outcome } = await inbox.process(one, async () => {
      expect((await inbox.process(one, ship)).outcome).toBe('duplicate');
    });
    expect(outcome).toBe('processed');
  });

  it('refuses the same id with another payload or another type', async () => {
    const one = message({}, 100);
    await inbox.process(one, ship);

    const otherPayload = message({}, 101, one.event.id);
    const otherType = { ...one, event: { ...one.event, type: 'order.moved' } };
    await expect(inbox.process(otherPayload, ship)).rejects.toThrow(InboxConflictError);
    await expect(inbox.process(otherType, ship)).rejects.toThrow(InboxConflictError);
    await expectRows({ shipments: 1, records: 1 });
  });

  it('gives duplicates the JSON form of the first result where it is kept', async () => {
    const one = message({ keepResult: true });
    const result = { at: new Date(0), none: null, list: [1, 'é'] };

    const first = await inbox.process(one, async () => result);
    const second = await inbox.process(one, async () => 'never');

    expect(first).toEqual({ outcome: 'processed', result });
    expect(second).toEqual({ outcome: 'duplicate', result: { ...result, at: '1970-01-01T00:00:00.000Z' } });
  });

  it('keeps nothing when the handler has no result', async () => {
    const one = message({ keepResult: true });
    await inbox.process(one, async () => undefined);
    expect(await inbox.process(one, async () => undefined)).toEqual({ outcome: 'duplicate', result: undefined });
  });

  it.each<[string, unknown, new (...args: never[]) => Error, RegExp]>([
    ['a BigInt', { total: 1n }, UnserializablePayloadError, /result\.total/],
    ['NUL', 'a\u0000b', UnserializablePayloadError, /result/],
    ['more than 1 MiB', 'x'.repeat(1_048_577), LimitExceededError, /result has/],
  ])('rolls back when the result that it should keep is %s', async (_, result, errorClass, reason) => {
    const failure = inbox.process(message({ keepResult: true }), () => ship().then(() => result));
    await expect(failure).rejects.toThrow(errorClass);
    await expect(failure).rejects.toThrow(reason);
    await expectRows({ shipments: 0, records: 0 });
  });

  it.each<[string, (length: number) => Partial<InboxMessage['event']> | string, number]>([
    ['consumer', (length) => text(length), 100],
    ['event id', (length) => ({ id: text(length) }), 255],
    ['event type', (length) => ({ type: text(length) }), 255],
  ])('limits the length of the %s before any SQL, with random text', async (field, make, limit) => {
    const withLength = (length: number): InboxMessage => {
      const made = make(length);
      const base = message();
      return typeof made === 'string' ? { ...base, consumer: made } : { ...base, event: { ...base.event, ...made } };
    };
    await inbox.process(withLength(limit), ship);
    for (const length of [limit + 1, 3000, 100_000]) {
      const failure: unknown = await inbox.process(withLength(length), ship).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(InboxRefusedError);
      expect(failure).toMatchObject({ status: 400, message: expect.stringContaining(`${field} has ${length}`) });
    }
    await expectRows({ shipments: 1, records: 1 });
  });

  it.each<[string, Partial<InboxMessage['event']>]>([
    ['an id with NUL', { id: 'a\u0000' }],
    ['an id with a lone surrogate', { id: 'a\ud800' }],
    ['an empty id', { id: '' }],
    ['no id', { id: undefined as unknown as string }],
    ['a type with NUL', { type: '\u0000' }],
    ['a payload with a BigInt', { payload: 1n }],
    ['a payload with NaN', { payload: { a: Number.NaN } }],
  ])("refuses %s with 400 and leaves the caller's transaction usable", async (_, event) => {
    const one = message();
    await outbox.transaction(async () => {
      const refused = inbox.process({ ...one, event: { ...one.event, ...event } }, ship);
      await expect(refused).rejects.toMatchObject({ code: 'INBOX_REFUSED', status: 400, retryable: false });
      await ship();
    });
    await expectRows({ shipments: 1, records: 0 });
  });

  it('waits for another connection at most waitMs and is then unavailable, which is retryable', async () => {
    const one = message();
    const holder = dataSource.createQueryRunner();
    await holder.startTransaction();
    await holder.query(
      'insert into processed_events (consumer_name, event_id, event_type, content_digest) values ($1, $2, $3, $4)',
      [one.consumer, one.event.id, one.event.type, Buffer.alloc(32)],
    );
    try {
      const failure: unknown = await inbox.process(one, ship).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(InboxUnavailableError);
      expect(failure).toMatchObject({ retryable: true, retryAfterSeconds: 5, code: 'INBOX_UNAVAILABLE' });
    } finally {
      await holder.rollbackTransaction();
      await holder.release();
    }
    expect((await inbox.process(one, ship)).outcome).toBe('processed');
  });

  it('writes down what was processed, by whom and when, and no content', async () => {
    const one = message({ consumer: 'bookkeeper' });
    await inbox.process(one, ship);
    const rows = await database.query(
      "select consumer_name, event_id, event_type, length(content_digest) as bytes, result, processed_at > now() - interval '1 minute' as is_recent from processed_events",
    );
    expect(rows).toEqual([
      {
        consumer_name: 'bookkeeper',
        event_id: one.event.id,
        event_type: 'order.placed',
        bytes: 32,
        result: null,
        is_recent: true,
      },
    ]);
  });

  function text(length: number): string {
    return randomBytes(length).toString('base64url').slice(0, length);
  }
});
