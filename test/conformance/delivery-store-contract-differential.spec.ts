import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Completion } from '../../libs/outbox/src/config/index.js';
import type { ClaimAnswer } from '../../libs/outbox/src/store/index.js';
import { SeededRandom } from '../simulation/seeded-random.js';
import { DESTINATION, OTHER_DESTINATION, type StoreUnderTest } from './delivery-store-contract-harness.js';
import { openInMemoryStore } from './delivery-store-contract-memory.js';
import { openPostgresStore } from './delivery-store-contract-postgres.js';
import { StepSource } from './delivery-store-contract-steps.js';

/** `DIFFERENTIAL_SEEDS=1000` tries more, `DIFFERENTIAL_SEED=17` that one only. */
const SEEDS = Number(process.env.DIFFERENTIAL_SEEDS ?? 6);
const ONLY = process.env.DIFFERENTIAL_SEED;
const STEPS = 100;

describe.each(['delete', 'keep', 'archive'] as const)('both stores with completion %s', (completion: Completion) => {
  let postgres: StoreUnderTest;
  let memory: StoreUnderTest;
  beforeAll(async () => {
    postgres = await openPostgresStore(completion);
    memory = openInMemoryStore(completion);
  });
  afterAll(() => postgres.close());

  it('answer every step of the same random sequences alike, and are in the same state after it', async () => {
    const seeds = ONLY === undefined ? Array.from({ length: SEEDS }, (_, index) => index + 1) : [Number(ONLY)];
    for (const seed of seeds) await compare(seed, [postgres, memory]);
  }, 600_000);
});

async function compare(seed: number, stores: readonly [StoreUnderTest, StoreUnderTest]): Promise<void> {
  const steps = new StepSource(new SeededRandom(seed));
  const trace: string[] = [];
  const times = new Set<number>();
  const both = async <T>(apply: (store: StoreUnderTest) => Promise<T>): Promise<readonly [T, T]> => [
    await apply(stores[0]),
    await apply(stores[1]),
  ];
  await both(async (store) => {
    await store.reset();
    await store.deliveries.prepare(DESTINATION);
    await store.deliveries.prepare(OTHER_DESTINATION);
  });
  for (let count = 0; count < STEPS; count += 1) {
    const step = steps.next();
    trace.push(step.name);
    // No two claims at the same moment, because the turn of the lanes is told by the time of their last claim.
    do await both((store) => store.passTime(1));
    while (times.has(stores[1].now()));
    times.add(stores[1].now());
    const answers = await both(step.apply);
    const [inPostgres, inMemory] = answers.map(withoutEnvelopes);
    const states = await both((store) => store.state());
    if (!isDeepStrictEqual(inPostgres, inMemory) || !isDeepStrictEqual(states[0], states[1])) {
      const replay = `DIFFERENTIAL_SEED=${seed} npx vitest run delivery-store-contract-differential`;
      expect.soft({ answer: inMemory, ...states[1] }, replay).toEqual({ answer: inPostgres, ...states[0] });
      throw new Error(`The stores differ with seed ${seed} after step ${count + 1}:\n${trace.join('\n')}`);
    }
    const answer = answers[1] as ClaimAnswer | undefined;
    if (answer?.kind === 'claimed') steps.note(answer.claim);
  }
}

/** Each store makes up its own events; the deliveries must be the same. */
function withoutEnvelopes(answer: unknown): unknown {
  const claimed = answer as Partial<Extract<ClaimAnswer, { kind: 'claimed' }>> | undefined;
  if (claimed?.claim === undefined) return answer;
  const { deliveries, reaped } = claimed.claim;
  return {
    ...claimed.claim,
    deliveries: deliveries.map((one) => ({ ...one, envelope: undefined })),
    reaped: reaped.map((one) => ({ ...one, eventId: undefined })),
  };
}
