import { Breaker } from '../../libs/outbox/src/dispatch/breaker.js';
import { LeaseKeeper } from '../../libs/outbox/src/dispatch/lease-keeper.js';
import { LowWater } from '../../libs/outbox/src/dispatch/low-water.js';
import type { Finalization } from '../../libs/outbox/src/store/index.js';
import type { InMemoryDelivery, InMemoryQueue } from '../../libs/outbox/src/testing/index.js';
import type { Store } from './checked-store.js';

/** A mistake that somebody might make, and what the checks must say about it. */
export interface PlantedBug {
  readonly name: string;
  readonly violates: RegExp;
  /** The store with the mistake. Everything happens before the first `await`, as in the store itself. */
  readonly inStore?: (queue: InMemoryQueue, store: Store) => Store;
  /** Puts the mistake into the dispatcher; answers how to take it out. */
  readonly inDispatcher?: () => () => void;
}

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'the finalize does not look at the token',
    violates: /changed delivery \d+, which it does not hold/,
    inStore: (queue, store) => ({
      ...store,
      async finalize(claim, outcomes) {
        for (const row of rowsOf(queue, idsOf(outcomes))) row.token = Number(claim.token);
        return store.finalize(claim, outcomes);
      },
    }),
  },
  {
    name: 'attempts count at the finalize instead of at the claim',
    violates: /has spent \d+ attempts/,
    inStore: (queue, store) => ({
      ...store,
      async claim(request) {
        const spentBefore = new Map([...queue.deliveries].map(([id, row]) => [id, row.attempts]));
        const answer = store.claim(request);
        for (const row of queue.deliveries.values()) row.attempts = spentBefore.get(row.id) ?? row.attempts;
        return answer;
      },
      async finalize(claim, outcomes) {
        for (const row of rowsOf(queue, idsOf(outcomes))) if (row.token === Number(claim.token)) row.attempts += 1;
        return store.finalize(claim, outcomes);
      },
    }),
  },
  {
    name: 'a claim does not look at what holds a key',
    violates: /was claimed before \d+ of its key/,
    inStore: (queue, store) => ({
      ...store,
      async claim(request) {
        return whileHidden([...queue.deliveries.values()].filter(waits(queue)), () => store.claim(request));
      },
    }),
  },
  {
    name: 'a claim does not look at the lease of the lane',
    violates: /was claimed under the valid lease/,
    inStore: (queue, store) => ({
      ...store,
      async claim(request) {
        for (const lane of queue.lanes) lane.leaseUntil = undefined;
        return store.claim(request);
      },
    }),
  },
  {
    name: 'a claim reads the deliveries of a lane as they were just before it got the lane (no revision)',
    violates: /was claimed before \d+ of its key/,
    inStore: (queue, store) => {
      const heldSince = new Map<string, number>();
      return {
        ...store,
        async finalize(claim, outcomes) {
          const answer = store.finalize(claim, outcomes);
          for (const { id } of [...outcomes.rescheduled, ...outcomes.dead]) heldSince.set(id, queue.clock());
          return answer;
        },
        async claim(request) {
          const seenAt = queue.clock() - 20;
          const changedSince = [...queue.deliveries.values()].filter((row) => (heldSince.get(row.id) ?? 0) > seenAt);
          return whileHidden(changedSince.filter(waits(queue)), () => store.claim(request));
        },
      };
    },
  },
  {
    name: 'the followers of a delivery that is reaped are claimed with it',
    violates: /was claimed before \d+ of its key/,
    inStore: (queue, store) => ({
      ...store,
      async claim(request) {
        const spent = [...queue.deliveries.values()].filter((row) => isSpent(row, request.maxAttempts));
        const keys = spent.map(({ orderingKey }) => orderingKey);
        for (const row of spent) if (row.lane !== undefined) Object.assign(row, { orderingKey: `no key, ${row.id}` });
        const answer = store.claim(request);
        for (const [index, row] of spent.entries()) Object.assign(row, { orderingKey: keys[index] });
        return answer;
      },
    }),
  },
  {
    name: 'an ordered event that was never rescheduled waits for its time, which a clock that went back has moved',
    violates: /was claimed before \d+ of its key/,
    inStore: (queue, store) => ({
      ...store,
      async claim(request) {
        const early = [...queue.deliveries.values()].filter((row) => row.lane !== undefined && isEarly(queue, row));
        return whileHidden(early, () => store.claim(request));
      },
    }),
  },
  {
    name: 'a dispatcher that lost its lane may still reschedule and release in it',
    violates: /which it does not hold/,
    inStore: (queue, store) => ({
      ...store,
      async finalize(claim, outcomes) {
        const lane = queue.laneOf(claim.destination, claim.lane);
        if (lane !== undefined) lane.token = Number(claim.token);
        return store.finalize(claim, outcomes);
      },
    }),
  },
  {
    name: 'a release forgets the refund',
    violates: /has spent \d+ attempts/,
    inStore: (queue, store) => ({
      ...store,
      async finalize(claim, outcomes) {
        const held = rowsOf(queue, outcomes.released).filter((row) => row.leaseUntil !== undefined);
        const spentBefore = held.map((row) => row.attempts);
        const answer = store.finalize(claim, outcomes);
        for (const [index, row] of held.entries()) row.attempts = spentBefore[index] ?? row.attempts;
        return answer;
      },
    }),
  },
  {
    name: 'a finalize that is repeated refunds once more',
    violates: /which it does not hold/,
    inStore: (queue, store) => ({
      ...store,
      async finalize(claim, outcomes) {
        const again = rowsOf(queue, idsOf(outcomes)).filter((row) => row.token === Number(claim.token));
        for (const row of again) if (row.status === 'pending') row.leaseUntil ??= queue.clock();
        return store.finalize(claim, outcomes);
      },
    }),
  },
  {
    name: 'a renewal runs beside the finalize, comes after it, and leases the lane again',
    violates: /renewed lane \d+, which it does not hold/,
    inDispatcher: () => replace(LeaseKeeper.prototype, 'endRenewals', async () => undefined),
    inStore: (queue, store) => ({
      ...store,
      async renew(claim, ids, leaseMs) {
        const lane = queue.laneOf(claim.destination, claim.lane);
        if (lane?.token === Number(claim.token)) lane.leaseUntil ??= queue.clock();
        return store.renew(claim, ids, leaseMs);
      },
    }),
  },
  {
    name: 'every claim after the pause is a probe',
    violates: /while the pause lasts/,
    inStore: (queue, store) => ({
      ...store,
      async claim(request) {
        const destination = queue.destinations.get(request.destination);
        const resumeAt = destination?.resumeAt ?? 0;
        const answer = store.claim(request);
        if (destination !== undefined) destination.resumeAt = resumeAt;
        return answer;
      },
    }),
  },
  {
    name: 'a batch that was under way waits for the lease of the probe instead of the pause',
    violates: /the pause is/,
    inStore: (queue, store) => ({
      ...store,
      async trip(request) {
        const answer = store.trip(request);
        const resumeAt = queue.destinations.get(request.destination)?.resumeAt;
        return resumeAt === undefined ? answer : Math.max(0, resumeAt - queue.clock());
      },
    }),
  },
  {
    name: 'a dispatcher that cannot connect trips the breaker of all',
    violates: /still pending although nothing goes wrong/,
    inDispatcher: () =>
      replace(Breaker.prototype, 'noteUnconnected', function (this: Breaker, error: string) {
        void this.trip(error, true);
      }),
  },
  {
    name: 'the dispatcher does not look at its lease before it publishes',
    violates: /whose lease ended before the call/,
    inDispatcher: () => replace(LeaseKeeper.prototype, 'isHeld', () => true),
  },
  {
    name: 'claims never look again below how far they once came',
    violates: /still pending although nothing goes wrong/,
    inDispatcher: () => {
      const real = LowWater.prototype.next;
      const marks = new WeakMap<LowWater, number>();
      const putNextBack = replace(LowWater.prototype, 'next', function (this: LowWater) {
        return { ...real.call(this), fromUs: marks.get(this) };
      });
      const putNoteBack = replace(LowWater.prototype, 'note', function (this: LowWater, _reach, lastUs) {
        if (lastUs !== undefined) marks.set(this, Math.max(lastUs, marks.get(this) ?? 0));
      });
      return () => {
        putNextBack();
        putNoteBack();
      };
    },
  },
];

/** @returns puts the real method back. */
function replace<Owner extends object, Name extends keyof Owner>(
  owner: Owner,
  name: Name,
  bug: Owner[Name],
): () => void {
  const real = owner[name];
  owner[name] = bug;
  return () => {
    owner[name] = real;
  };
}

function idsOf({ delivered, rescheduled, dead, released }: Finalization): string[] {
  return [...delivered, ...released, ...[...rescheduled, ...dead].map(({ id }) => id)];
}

function rowsOf(queue: InMemoryQueue, ids: readonly string[]): InMemoryDelivery[] {
  return ids.flatMap((id) => queue.deliveries.get(id) ?? []);
}

function isSpent(row: InMemoryDelivery, maxAttempts: number): boolean {
  return row.status === 'pending' && row.leaseUntil !== undefined && row.attempts >= maxAttempts;
}

function isEarly(queue: InMemoryQueue, row: InMemoryDelivery): boolean {
  return row.status === 'pending' && !row.holdsKey && row.availableAt > queue.clock();
}

/** It is not taken itself, but holds its key. */
function waits(queue: InMemoryQueue): (row: InMemoryDelivery) => boolean {
  return (row) => row.holdsKey && (row.status === 'dead' || row.availableAt > queue.clock());
}

/** For the time of one operation these deliveries are not there. */
function whileHidden<T>(rows: readonly InMemoryDelivery[], operation: () => T): T {
  const shown = rows.map((row) => ({ row, status: row.status, holdsKey: row.holdsKey }));
  for (const row of rows) Object.assign(row, { status: 'done', holdsKey: false });
  const answer = operation();
  for (const { row, status, holdsKey } of shown) Object.assign(row, { status, holdsKey });
  return answer;
}
