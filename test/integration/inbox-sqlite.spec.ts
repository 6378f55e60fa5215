import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Test, type TestingModule } from '@nestjs/testing';
import { getRepositoryToken, TypeOrmModule } from '@nestjs/typeorm';
import Database from 'libsql';
import {
  InboxConflictError,
  type InboxMessage,
  InboxModule,
  InboxService,
  InboxUnavailableError,
  inboxMigrations,
  type ReceivedEvent,
} from 'nestjs-transactional-outbox';
import { Column, DataSource, Entity, PrimaryColumn, Repository } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

@Entity()
class Stock {
  @PrimaryColumn('text')
  product: string;

  @Column('int')
  quantity: number;
}

type Cut = 'after the record' | 'after the effect' | 'after the commit, before the answer';

function message(id: string, delta: number, keepResult = false): InboxMessage {
  const event: ReceivedEvent = {
    id,
    source: '/test',
    type: 'stock.moved',
    payload: { delta },
    headers: {},
    version: 1,
    aggregateType: undefined,
    aggregateId: undefined,
    sequence: undefined,
    createdAt: undefined,
  };
  return { consumer: 'inventory', event, keepResult };
}

describe('the inbox of a consumer with a SQLite file of its own', () => {
  let folder: string;
  let module: TestingModule;
  let inbox: InboxService;
  let stock: Repository<Stock>;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'inbox-sqlite-'));
    module = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot({
          type: 'better-sqlite3',
          driver: Database,
          database: join(folder, 'inventory.sqlite'),
          entities: [Stock],
          synchronize: true,
        }),
        TypeOrmModule.forFeature([Stock]),
        InboxModule.forRoot({ allowUnsigned: true, migrate: 'auto' }),
      ],
    }).compile();
    await module.init();
    inbox = module.get(InboxService);
    stock = module.get(getRepositoryToken(Stock));
    await stock.save({ product: 'A', quantity: 100 });
  });
  afterEach(async () => {
    await module.close();
    await rm(folder, { recursive: true });
  });

  /** Moves stock, and refuses to go below zero. */
  const move = async (delta: number): Promise<number> => {
    const { quantity } = await stock.findOneByOrFail({ product: 'A' });
    if (quantity + delta < 0) throw new Error('not enough in stock');
    await stock.update({ product: 'A' }, { quantity: quantity + delta });
    return quantity + delta;
  };
  const deliver = async (id: string, delta: number, cut?: Cut): Promise<void> => {
    await inbox.process(message(id, delta), async () => {
      if (cut === 'after the record') throw new Error('cut off');
      await move(delta);
      if (cut === 'after the effect') throw new Error('cut off');
    });
    if (cut === 'after the commit, before the answer') throw new Error('cut off');
  };
  const state = async (): Promise<{ quantity: number; records: number }> => {
    const [row] = await module.get(DataSource).query('select count(*) as records from processed_events');
    return { quantity: (await stock.findOneByOrFail({ product: 'A' })).quantity, records: row.records };
  };

  for (const cut of ['after the record', 'after the effect', 'after the commit, before the answer'] as const) {
    it(`has one effect when the first delivery is cut off ${cut}`, async () => {
      await expect(deliver('E42', -3, cut)).rejects.toThrow('cut off');
      const isCommitted = cut === 'after the commit, before the answer';
      expect(await state()).toEqual(isCommitted ? { quantity: 97, records: 1 } : { quantity: 100, records: 0 });
      await deliver('E42', -3);
      await deliver('E42', -3);
      expect(await state()).toEqual({ quantity: 97, records: 1 });
    });
  }

  it('refuses the same id with another content, and a refused operation leaves no record', async () => {
    await deliver('E42', -3);
    await expect(deliver('E42', -4)).rejects.toBeInstanceOf(InboxConflictError);
    await expect(deliver('E43', -200)).rejects.toThrow('not enough in stock');
    expect(await state()).toEqual({ quantity: 97, records: 1 });
  });

  it('gives duplicates the first result where it is kept', async () => {
    const first = await inbox.process(message('E42', -3, true), () => move(-3));
    const second = await inbox.process(message('E42', -3, true), () => move(-3));
    expect([first, second]).toEqual([
      { outcome: 'processed', result: 97 },
      { outcome: 'duplicate', result: 97 },
    ]);
  });

  it('has one effect of twenty simultaneous deliveries, and one of each of twenty events', async () => {
    await Promise.all(Array.from({ length: 20 }, () => deliver('E42', -3)));
    expect(await state()).toEqual({ quantity: 97, records: 1 });
    await Promise.all(Array.from({ length: 20 }, (_, index) => deliver(`E${index + 100}`, -1)));
    expect(await state()).toEqual({ quantity: 77, records: 21 });
  });

  it('asks to try again while another process writes to the file, and then takes the event', async () => {
    const other = new Database(join(folder, 'inventory.sqlite'));
    other.exec('begin immediate');
    await module.get(DataSource).query('pragma busy_timeout = 20');
    await expect(deliver('E42', -3)).rejects.toBeInstanceOf(InboxUnavailableError);
    other.exec('rollback');
    other.close();
    await deliver('E42', -3);
    expect(await state()).toEqual({ quantity: 97, records: 1 });
  });

  it('can be made by a migration, and goes again', async () => {
    const dataSource = new DataSource({
      type: 'better-sqlite3',
      driver: Database,
      database: join(folder, 'migrated.sqlite'),
      migrations: inboxMigrations({ database: 'sqlite' }),
    });
    await dataSource.initialize();
    await dataSource.runMigrations();
    expect(await dataSource.query('select * from processed_events')).toEqual([]);
    await dataSource.undoLastMigration();
    await expect(dataSource.query('select * from processed_events')).rejects.toThrow('no such table');
    await dataSource.runMigrations();
    expect(await dataSource.query('select * from processed_events')).toEqual([]);
    await dataSource.destroy();
  });

  it('refuses a schema, which SQLite does not have', () => {
    expect(() => inboxMigrations({ database: 'sqlite', schema: 'messaging' })).toThrow('SQLite has no schemas');
  });
});
