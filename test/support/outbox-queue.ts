import { randomUUID } from 'node:crypto';
import { type Completion, resolveTables } from '../../libs/outbox/src/config/index.js';
import {
  type BreakerStore,
  type Claim,
  type ClaimRequest,
  type DeliveryStore,
  DispatcherPool,
  type Finalization,
  outboxNames,
  PostgresBreakerStore,
  PostgresDeliveryStore,
} from '../../libs/outbox/src/store/index.js';
import { noted, type OutboxApp, type OutboxAppOptions, startOutboxApp, step } from './outbox-app.js';

export const DESTINATION = 'memory';
export const tableNames = outboxNames('public', resolveTables());

/** A row of the delivery queue, with times as seen by the database's clock. */
export interface QueuedDelivery {
  readonly id: string;
  readonly eventId: string;
  /** 0 waiting or leased, 1 dead, 2 done. */
  readonly status: number;
  readonly attempts: number;
  readonly token: string;
  readonly hasLease: boolean;
  readonly isLeased: boolean;
  readonly holdsKey: boolean;
  /** Negative when it has been due for a while. */
  readonly dueInMs: number;
  readonly error: string | null;
}

export interface QueueStore extends DeliveryStore {
  readonly breakers: BreakerStore;
}

/** An application that emits and dispatches only when asked to, and stores as other dispatchers would have them. */
export interface OutboxQueue extends OutboxApp {
  /** A store on a pool of its own, as a dispatcher in another process has it. Ends with the queue. */
  openStore(): QueueStore;
  emit(...events: readonly object[]): Promise<string[]>;
  emitUnordered(count: number): Promise<string[]>;
  /** Ordered events of one aggregate. */
  emitOrdered(aggregateId: string, count: number): Promise<string[]>;
  /** Oldest first. */
  deliveries(): Promise<QueuedDelivery[]>;
  /** Ends every lease now, as if its time had passed. */
  expireLeases(): Promise<void>;
  /** Makes everything that waits for a retry or was deferred due now. */
  makeDue(): Promise<void>;
}

export async function startOutboxQueue(options: OutboxAppOptions = {}): Promise<OutboxQueue> {
  const app = await startOutboxApp(options);
  const pools: DispatcherPool[] = [];
  const completion: Completion = options.outbox?.completion ?? 'delete';
  const openStore = (): QueueStore => {
    const pool = new DispatcherPool(app.dataSource, {
      size: 2,
      preparesStatements: true,
      onIdleError: () => undefined,
    });
    pools.push(pool);
    return Object.assign(new PostgresDeliveryStore(pool, tableNames, completion), {
      breakers: new PostgresBreakerStore(pool, tableNames),
    });
  };
  await openStore().prepare(DESTINATION);
  const emit = (...events: readonly object[]): Promise<string[]> =>
    app.outbox.transaction(() => app.outbox.emit(events));
  return {
    ...app,
    openStore,
    emit,
    emitUnordered: (count) => emit(...Array.from({ length: count }, () => noted(randomUUID()))),
    emitOrdered: (aggregateId, count) =>
      emit(...Array.from({ length: count }, (_, index) => step(aggregateId, index + 1))),
    deliveries: () =>
      app.database.query<QueuedDelivery & Record<string, unknown>>(
        `select id::text, event_id as "eventId", status, attempts, lease_version::text as token,
          lease_until is not null as "hasLease", coalesce(lease_until > clock_timestamp(), false) as "isLeased",
          holds_key as "holdsKey", (extract(epoch from available_at - clock_timestamp()) * 1000)::float8 as "dueInMs",
          last_error as error
        from outbox_delivery d order by d.id`,
      ),
    async expireLeases() {
      const ended = `set lease_until = now() - interval '1 millisecond' where lease_until is not null`;
      await app.database.query(`with lanes as (update outbox_lane ${ended}) update outbox_delivery ${ended}`);
    },
    async makeDue() {
      await app.database.query('update outbox_delivery set available_at = now() where available_at > now()');
    },
    async close() {
      await Promise.all(pools.map((pool) => pool.close()));
      await app.close();
    },
  };
}

function claimRequest(overrides: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    destination: DESTINATION,
    owner: 'test',
    leaseMs: 60_000,
    batchSize: 100,
    batchBytes: 1_000_000,
    maxAttempts: 3,
    ...overrides,
  };
}

/** Undefined when nothing is due; asks again when it met another dispatcher. */
export async function tryClaim(
  store: DeliveryStore,
  overrides: Partial<ClaimRequest> = {},
): Promise<Claim | undefined> {
  for (;;) {
    const answer = await store.claim(claimRequest(overrides));
    if (answer.kind !== 'contended') return answer.kind === 'claimed' ? answer.claim : undefined;
  }
}

/** @throws when nothing is due: for tests in which something must be. */
export async function mustClaim(store: DeliveryStore, overrides: Partial<ClaimRequest> = {}): Promise<Claim> {
  const claim = await tryClaim(store, overrides);
  if (claim === undefined) throw new Error('nothing was claimed');
  return claim;
}

export const idsOf = (claim: Claim): string[] => claim.deliveries.map(({ id }) => id);

export const eventIdsOf = (claim: Claim): string[] =>
  claim.deliveries.map(({ envelope, problem }) => envelope?.id ?? `unreadable: ${problem}`);

export function finalization(outcomes: Partial<Finalization>): Finalization {
  return { delivered: [], rescheduled: [], dead: [], released: [], ...outcomes };
}
