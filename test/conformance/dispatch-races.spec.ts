import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { OutgoingEvent, PublishOutcome, Transport } from 'nestjs-transactional-outbox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delivered } from '../../libs/outbox/src/transports/index.js';
import { BareDispatcher } from '../support/bare-dispatcher.js';
import { eventually } from '../support/eventually.js';
import { noted, skippable, step } from '../support/outbox-app.js';
import { type OutboxQueue, startOutboxQueue } from '../support/outbox-queue.js';
import { RaceRecord } from '../support/race-record.js';
import { SeededRandom } from '../support/seeded-random.js';
import { unreliable } from '../support/unreliable-store.js';

const LEASE_MS = 150;
const DISPATCHERS = 4;
const EVENTS = 1600;
/** More seeds, separated by commas, for whoever hunts a race. */
const SEEDS = (process.env.RACE_SEEDS ?? '1,2').split(',').map(Number);

/** Answers at random, also too late, also without listening to the signal, as the worst of all destinations. */
class WildTransport implements Transport {
  readonly capabilities = { batch: false, keepsOrderPerKey: false, deduplicates: false };
  token = '';

  constructor(
    private readonly random: SeededRandom,
    private readonly record: RaceRecord,
  ) {}

  async publish([event]: readonly OutgoingEvent[]): Promise<readonly PublishOutcome[]> {
    if (event === undefined) return [];
    const { token, record } = this;
    const end = record.publishing(token, event);
    try {
      const outcome = await this.answer(event);
      if (outcome.kind === 'delivered') record.acknowledged(token, event);
      return [outcome];
    } finally {
      end();
    }
  }

  private async answer(event: OutgoingEvent): Promise<PublishOutcome> {
    const { random, record } = this;
    const dice = random.next();
    if (dice < 0.03) return { kind: 'retry', error: 'as told' };
    if (dice < 0.05) return { kind: 'defer', reason: 'as told', delayMs: random.between(1, 20) };
    if (dice < 0.06) return { kind: 'dead', error: 'as told' };
    if (dice < 0.08) throw new Error('as told');
    if (dice < 0.12) await wait(random.between(20, LEASE_MS * 2));
    record.effect(event);
    if (dice > 0.98) return { kind: 'retry', error: 'delivered, but the answer was lost' };
    return delivered;
  }
}

/** Rows that are finished must stay as they are, and a number of attempts is no debt. */
const WATCH = `
create table anomaly (what text not null);
create function watch() returns trigger language plpgsql as $$ begin
  if old.status = 2 then insert into anomaly values (format('delivery %s changed after it was done', old.id)); end if;
  if new.attempts < 0 then insert into anomaly values (format('delivery %s has %s attempts', new.id, new.attempts)); end if;
  if new.lease_version < old.lease_version then insert into anomaly values (format('the token of %s went back', new.id)); end if;
  return new;
end $$;
create trigger watch after update on outbox_delivery for each row execute function watch()`;

describe.each(SEEDS)('dispatchers with leases that end all the time, seed %i', (seed) => {
  let queue: OutboxQueue;
  let record: RaceRecord;
  beforeEach(async () => {
    queue = await startOutboxQueue({ outbox: { completion: 'keep' } });
    await queue.database.query(WATCH);
    record = new RaceRecord();
  });
  afterEach(() => queue.close());

  const newDispatcher = (index: number): BareDispatcher => {
    const random = new SeededRandom(seed * 1000 + index);
    const transport = new WildTransport(random, record);
    const store = unreliable(queue.openStore(), random, LEASE_MS, {
      claimed: (claim) => {
        transport.token = claim.token;
        record.claimed(claim);
      },
      finalizing: (claim, outcomes) => record.finalizing(claim, outcomes),
      unblocking: (ids) => record.unblocking(ids),
    });
    return new BareDispatcher({
      store,
      transport,
      onDead: (type) => (type === 'order.skippable' ? 'skip' : 'block'),
      leaseMs: LEASE_MS,
      publishTimeoutMs: 100,
      batchSize: 25,
      concurrency: 4,
      maxAttempts: 4,
      retryBaseMs: 1,
      retryCapMs: 20,
    });
  };
  const emitAll = async (): Promise<number> => {
    const random = new SeededRandom(seed);
    const hot = Array.from({ length: 6 }, () => randomUUID());
    let emitted = 0;
    while (emitted < EVENTS) {
      const events = Array.from({ length: 40 }, () => {
        const aggregate = hot[random.between(0, hot.length - 1)] ?? '';
        const dice = random.next();
        return dice < 0.25 ? noted(randomUUID()) : dice < 0.4 ? skippable(aggregate, 1) : step(aggregate, 1);
      });
      emitted += (await queue.emit(...events)).length;
    }
    return emitted;
  };
  const undelivered = async (): Promise<number> => {
    const [row] = await queue.database.query<{ count: number }>(
      'select count(*)::int from outbox_delivery where status = 0 or (status = 1 and holds_key)',
    );
    return row?.count ?? Number.NaN;
  };
  /** What a person would do: put back what holds an aggregate. */
  const redriveBlocking = (): Promise<unknown> =>
    queue.database.query(
      `update outbox_delivery set status = 0, attempts = 0, available_at = clock_timestamp(), lease_owner = null,
         lease_until = null where status = 1 and holds_key`,
    );

  it('publish each aggregate in order, lose nothing, and finish each event once', async () => {
    let isOver = false;
    const dispatchers = Array.from({ length: DISPATCHERS }, (_, index) => newDispatcher(index));
    const dispatching = dispatchers.map(async (dispatcher) => {
      while (!isOver) {
        await dispatcher.drain();
        await wait(5);
      }
    });
    const emitted = await emitAll();
    await eventually(
      async () => {
        await redriveBlocking();
        expect(await undelivered()).toBe(0);
      },
      { timeoutMs: 60_000, intervalMs: 50 },
    ).finally(() => {
      isOver = true;
    });
    await Promise.all(dispatching);

    expect(record.violations).toEqual([]);
    expect(record.keysOutOfOrder()).toEqual([]);
    expect(await queue.database.query('select what from anomaly')).toEqual([]);
    const states = await queue.database.query<{ event_id: string; status: number }>(
      'select event_id, status from outbox_delivery',
    );
    expect(states).toHaveLength(emitted);
    expect(states.filter(({ event_id, status }) => status === 2 && !record.effects.has(event_id))).toEqual([]);
    const lost = dispatchers.flatMap(({ logger }) => logger.lines).filter((line) => line.startsWith('warn lease lost'));
    expect(lost.length).toBeGreaterThan(0);
  }, 90_000);
});
