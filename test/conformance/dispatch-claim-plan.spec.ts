import { PartitionService } from 'nestjs-transactional-outbox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SESSION_SETTINGS } from '../../libs/outbox/src/store/dispatcher-pool.js';
import { claimDeliveriesSql } from '../../libs/outbox/src/store/sql/claim-deliveries.sql.js';
import { type OutboxQueue, startOutboxQueue, tableNames } from '../support/outbox-queue.js';
import { partitionOf } from '../support/partitioned-log.js';
import { explain } from '../support/query-plan.js';

/** A claim of a hundred touches each row, its index entries and its event; a walk over a backlog touches thousands. */
const FEW_PAGES = 2500;

/** Events `o0` to `o<aggregates - 1>` in turn; `delivery` says what their deliveries are, as columns and values. */
const fill = (events: number, delivery: string, aggregates = events): string => `
  with logged as (
    insert into outbox_event (id, aggregatetype, aggregateid, type, payload, destinations, sequence)
    select gen_random_uuid(), 'order', 'o' || n % ${aggregates}, 'order.noted', jsonb_build_object('n', n), '{memory}', n
    from generate_series(1, ${events}) n returning id, sequence
  ) ${delivery}`;
const IN_LOG_ONLY = 'select count(*) from logged';
const KEPT = `insert into outbox_delivery (event_id, destination, payload_bytes, status, attempts, done_at, lease_version)
  select id, 'memory', 20, 2, 1, now(), 1 from logged`;
const UNORDERED = `insert into outbox_delivery (event_id, destination, payload_bytes) select id, 'memory', 20 from logged`;
const ordered = (aggregates: number, isHeld: string): string => `
  insert into outbox_delivery (event_id, destination, payload_bytes, ordering_key, lane, holds_key, available_at)
  select id, 'memory', 20, sequence % ${aggregates}, (sequence % ${aggregates}) & 31, ${isHeld},
    clock_timestamp() + case when ${isHeld} then interval '1 hour' else interval '0' end
  from logged order by sequence`;

interface Scenario {
  readonly what: string;
  readonly backlog: string;
  /** A queue of one or two pages is read as a whole, and rightly so. */
  readonly isQueueTiny?: boolean;
  /** Every page of the queue may be touched that often: what is held back has to be passed. */
  readonly walks?: number;
}

const SCENARIOS: readonly Scenario[] = [
  { what: '200,000 delivered events in the log', backlog: fill(200_000, IN_LOG_ONLY), isQueueTiny: true },
  { what: '200,000 delivered events that are kept in the queue', backlog: fill(200_000, KEPT) },
  { what: 'a backlog of 100,000 unordered events', backlog: fill(100_000, UNORDERED) },
  { what: 'a backlog of 100,000 events of 1,000 aggregates', backlog: fill(100_000, ordered(1000, 'false'), 1000) },
  { what: '20,000 events held back by one of theirs', backlog: fill(20_000, ordered(1, 'sequence = 1'), 1), walks: 2 },
];

describe.each(SCENARIOS)(
  'a claim beside $what, with 50 more waiting',
  ({ backlog, isQueueTiny = false, walks = 0 }) => {
    let queue: OutboxQueue;
    beforeAll(async () => {
      queue = await startOutboxQueue();
      await queue.database.query('vacuum (analyze)');
      await queue.database.query(backlog);
      await queue.emitUnordered(25);
      for (const aggregate of ['a', 'b', 'c', 'd', 'e']) await queue.emitOrdered(aggregate, 5);
    });
    afterAll(() => queue.close());

    it.each([
      ['with the statistics of an empty queue', 'select 1'],
      ['with fresh statistics', 'vacuum (analyze)'],
    ])('reads through indexes and touches few pages, %s', async (_, before) => {
      await queue.database.query(before);
      const values = ['memory', 'test', 30_000, 100, 12, 16_777_216, null, true];
      const plan = await explain(queue.database.url, claimDeliveriesSql(tableNames), values);

      const whole = plan.reads.filter((read) => read.startsWith('Seq Scan'));
      expect(whole).not.toContain('Seq Scan outbox_event');
      if (!isQueueTiny) expect(whole).not.toContain('Seq Scan outbox_delivery');
      const [size] = await queue.database.query<{ pages: number }>(
        `select (pg_relation_size('outbox_delivery') / current_setting('block_size')::int)::int as pages`,
      );
      expect(plan.buffers).toBeLessThan(FEW_PAGES + walks * (size?.pages ?? 0));
    });
  },
);

describe('a claim from a log in daily partitions', () => {
  let queue: OutboxQueue;
  beforeAll(async () => {
    queue = await startOutboxQueue();
    await queue.module.get(PartitionService).partition();
    await queue.module.get(PartitionService).maintain({ aheadDays: 30 });
    await queue.emitUnordered(50);
  });
  afterAll(() => queue.close());

  it('looks for its events in the partition of their day only, by its primary key', async () => {
    const values = ['memory', 'test', 30_000, 100, 12, 16_777_216, null, true];
    const plan = await explain(queue.database.url, claimDeliveriesSql(tableNames), values, SESSION_SETTINGS);
    const today = partitionOf(0);
    expect(plan.reads.filter((read) => read.includes(' outbox_event'))).toEqual([`Index Scan ${today} ${today}_pkey`]);
  });
});
