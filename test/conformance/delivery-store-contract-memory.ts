import { randomUUID } from 'node:crypto';
import type { Completion } from '../../libs/outbox/src/config/index.js';
import {
  InMemoryBreakerStore,
  InMemoryDeadLetterStore,
  type InMemoryDelivery,
  InMemoryDeliveryStore,
  InMemoryQueue,
} from '../../libs/outbox/src/testing/index.js';
import {
  DESTINATION,
  type DeliveryState,
  type Emitted,
  type QueueState,
  START_MS,
  type StoreUnderTest,
} from './delivery-store-contract-harness.js';

/** The in-memory stores under the hands of the contract suite. */
export function openInMemoryStore(completion: Completion = 'delete'): StoreUnderTest {
  let now = START_MS;
  let queue = new InMemoryQueue(() => now);
  let sequence = 0n;
  const put = ({ destination = DESTINATION, aggregate, bytes = 10 }: Emitted): string => {
    sequence += 1n;
    return queue.put({
      destination,
      payloadBytes: bytes,
      envelope: {
        id: randomUUID(),
        type: 'tested',
        aggregateType: 'test',
        aggregateId: aggregate ?? randomUUID(),
        payload: {},
        headers: {},
        version: 1,
        sequence: aggregate === undefined ? undefined : sequence,
        createdAt: new Date(now),
      },
    });
  };
  return {
    get deliveries() {
      return new InMemoryDeliveryStore(queue, completion);
    },
    get breakers() {
      return new InMemoryBreakerStore(queue);
    },
    get deadLetters() {
      return new InMemoryDeadLetterStore(queue);
    },
    emit: async (...events) => events.map(put),
    now: () => now,
    async passTime(ms) {
      now += ms;
    },
    state: async () => stateOf(queue),
    async reset() {
      now = START_MS;
      queue = new InMemoryQueue(() => now);
    },
    close: async () => undefined,
  };
}

function stateOf(queue: InMemoryQueue): QueueState {
  return {
    deliveries: [...queue.deliveries.values()].map(toState),
    lanes: queue.lanes
      .filter(({ token }) => token !== 0)
      .map(({ destination, lane, leaseUntil, token }) => ({ destination, lane, leaseUntil, token: String(token) })),
    breakers: [...queue.destinations]
      .map(([destination, { failures, resumeAt }]) => ({ destination, failures, resumeAt }))
      .sort((one, other) => one.destination.localeCompare(other.destination)),
    archive: queue.archive.map(({ id }) => id).toSorted((one, other) => Number(one) - Number(other)),
  };
}

function toState({ id, status, holdsKey, attempts, availableAt, ...row }: InMemoryDelivery): DeliveryState {
  const { leaseUntil, token, lastError: error } = row;
  return { id, status, holdsKey, attempts, availableAt, leaseUntil, token: String(token), error };
}
