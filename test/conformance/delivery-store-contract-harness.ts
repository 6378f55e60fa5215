import type {
  BreakerStore,
  Claim,
  ClaimAnswer,
  ClaimRequest,
  DeadLetterStore,
  DeliveryStore,
  Finalization,
} from '../../libs/outbox/src/store/index.js';

/** A delivery to be written: ordered within `aggregate` when that is given. */
export interface Emitted {
  readonly destination?: string;
  readonly aggregate?: string;
  /** Payload bytes; default 10. */
  readonly bytes?: number;
}

/** A row of the queue as people see it; times in ms of the store's clock. */
export interface DeliveryState {
  readonly id: string;
  readonly status: 'pending' | 'dead' | 'done';
  readonly holdsKey: boolean;
  readonly attempts: number;
  readonly availableAt: number;
  readonly leaseUntil: number | undefined;
  readonly token: string;
  readonly error: string | undefined;
}

export interface LaneState {
  readonly destination: string;
  readonly lane: number;
  readonly leaseUntil: number | undefined;
  readonly token: string;
}

/** What may be compared between two stores. */
export interface QueueState {
  /** Oldest first. */
  readonly deliveries: readonly DeliveryState[];
  /** Lanes that were ever claimed. */
  readonly lanes: readonly LaneState[];
  readonly breakers: readonly { readonly destination: string; readonly failures: number; readonly resumeAt: number }[];
  /** Ids of archived deliveries. */
  readonly archive: readonly string[];
}

/** A store and the hands of a test on its surroundings. Its clock stands still unless the test lets time pass. */
export interface StoreUnderTest {
  readonly deliveries: DeliveryStore;
  readonly breakers: BreakerStore;
  readonly deadLetters: DeadLetterStore;
  /** Writes deliveries as a committed transaction would; answers their ids, which count up. */
  emit(...events: readonly Emitted[]): Promise<string[]>;
  now(): number;
  passTime(ms: number): Promise<void>;
  state(): Promise<QueueState>;
  /** Empties everything: no destination is prepared, ids and tokens start again, the clock is where it began. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

export const DESTINATION = 'one';
export const OTHER_DESTINATION = 'two';
/** Where the clock begins. */
export const START_MS = Date.UTC(2026, 0, 1);

export function claimRequest(overrides: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    destination: DESTINATION,
    owner: 'test',
    leaseMs: 1000,
    batchSize: 100,
    batchBytes: 100_000,
    maxAttempts: 3,
    ...overrides,
  };
}

/** @throws when nothing was claimed: for tests in which something must be. */
export async function mustClaim(store: StoreUnderTest, overrides: Partial<ClaimRequest> = {}): Promise<Claim> {
  return claimIn(await store.deliveries.claim(claimRequest(overrides)));
}

/** @throws when nothing was claimed. */
export function claimIn(answer: ClaimAnswer): Claim {
  if (answer.kind !== 'claimed') throw new Error(`expected a claim, got ${JSON.stringify(answer)}`);
  return answer.claim;
}

export const nothing: ClaimAnswer = { kind: 'nothing', isProbe: false };

export const idsOf = (claim: Claim): string[] => claim.deliveries.map(({ id }) => id);

export function finalization(outcomes: Partial<Finalization>): Finalization {
  return { delivered: [], rescheduled: [], dead: [], released: [], ...outcomes };
}

export function rescheduled(id: string, delayMs: number, { refund = false } = {}): Finalization {
  return finalization({ rescheduled: [{ id, delayMs, refundAttempt: refund, error: 'failed' }] });
}

export function dead(id: string, { blocks = true } = {}): Finalization {
  return finalization({ dead: [{ id, error: 'given up', blocksKey: blocks }] });
}
