import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import { describeBreaker } from './delivery-store-contract-breaker.js';
import { describeClaims } from './delivery-store-contract-claims.js';
import { describeFencing } from './delivery-store-contract-fencing.js';
import { DESTINATION, OTHER_DESTINATION, type StoreUnderTest } from './delivery-store-contract-harness.js';
import { describeOrder } from './delivery-store-contract-order.js';
import { describeOutcomes } from './delivery-store-contract-outcomes.js';

/**
 * Registers the tests that every DeliveryStore with its BreakerStore and DeadLetterStore must pass. `open` is called
 * once; the store is emptied before each test.
 */
export function testDeliveryStore(title: string, open: () => StoreUnderTest | Promise<StoreUnderTest>): void {
  describe(title, () => {
    let opened: StoreUnderTest | undefined;
    const store = (): StoreUnderTest => {
      if (opened === undefined) throw new Error('the store is not open');
      return opened;
    };
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened?.close());
    beforeEach(async () => {
      await store().reset();
      await store().deliveries.prepare(DESTINATION);
      await store().deliveries.prepare(OTHER_DESTINATION);
    });

    describeClaims(store);
    describeOrder(store);
    describeOutcomes(store);
    describeFencing(store);
    describeBreaker(store);
  });
}
