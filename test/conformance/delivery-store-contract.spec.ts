import { describe, expect, it } from 'vitest';
import type { Completion } from '../../libs/outbox/src/config/index.js';
import { testDeliveryStore } from './delivery-store-contract.js';
import { DESTINATION, finalization, idsOf, mustClaim } from './delivery-store-contract-harness.js';
import { openInMemoryStore } from './delivery-store-contract-memory.js';
import { openPostgresStore } from './delivery-store-contract-postgres.js';

testDeliveryStore('the PostgreSQL store', () => openPostgresStore());
testDeliveryStore('the in-memory store', () => openInMemoryStore());

describe.each([
  ['PostgreSQL', openPostgresStore],
  ['in-memory', openInMemoryStore],
])('a delivered event of the %s store', (_, open) => {
  const delivered = async (completion: Completion): Promise<{ rows: (string | undefined)[]; archive: number }> => {
    const store = await open(completion);
    await store.deliveries.prepare(DESTINATION);
    await store.emit({ aggregate: 'a' });
    const claim = await mustClaim(store);
    const outcomes = finalization({ delivered: idsOf(claim) });
    expect(await store.deliveries.finalize(claim, outcomes)).toBe(0);
    expect(await store.deliveries.finalize(claim, outcomes)).toBe(1);
    const { deliveries, archive } = await store.state();
    await store.close();
    return { rows: deliveries.map(({ status }) => status), archive: archive.length };
  };

  it('is gone with completion `delete`, marked with `keep`, and moved with `archive`', async () => {
    expect(await delivered('delete')).toEqual({ rows: [], archive: 0 });
    expect(await delivered('keep')).toEqual({ rows: ['done'], archive: 0 });
    expect(await delivered('archive')).toEqual({ rows: [], archive: 1 });
  });
});
