import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readVitalSignsSql } from '../../libs/outbox/src/store/sql/read-vital-signs.sql.js';
import { type OutboxQueue, startOutboxQueue, tableNames } from '../support/outbox-queue.js';
import { explain } from '../support/query-plan.js';

/** Two indexes' first entries, and two lookups for each of 32 lanes. */
const FEW_PAGES = 1500;

describe('the health of an outbox beside 200,000 waiting events', () => {
  let queue: OutboxQueue;
  beforeAll(async () => {
    queue = await startOutboxQueue();
    await queue.database.query(`insert into outbox_delivery (event_id, destination, payload_bytes, ordering_key, lane)
      select gen_random_uuid(), 'memory', 20, case when n % 2 = 0 then n % 5000 end, case when n % 2 = 0 then (n % 5000) & 31 end
      from generate_series(1, 200000) n`);
    await queue.database.query('vacuum (analyze) outbox_delivery');
  });
  afterAll(() => queue.close());

  it('is seen at the first entries of indexes, and the queue is not read', async () => {
    const { reads, buffers } = await explain(queue.database.url, readVitalSignsSql(tableNames), [['memory']]);
    expect(reads.filter((read) => read.endsWith(' outbox_delivery'))).toEqual([]);
    expect(reads).toContain('Index Scan outbox_delivery outbox_delivery_unordered');
    expect(buffers).toBeLessThan(FEW_PAGES);
  });
});
