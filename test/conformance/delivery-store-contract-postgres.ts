import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { type Completion, resolveTables } from '../../libs/outbox/src/config/index.js';
import { orderingKey } from '../../libs/outbox/src/event/index.js';
import { toEventRows } from '../../libs/outbox/src/store/event-rows.js';
import {
  type Claim,
  type ClaimAnswer,
  type ClaimRequest,
  type Finalization,
  outboxNames,
  outboxSchemaSql,
  PostgresBreakerStore,
  PostgresDeadLetterStore,
  PostgresDeliveryStore,
  type SqlClient,
  type StorableEvent,
} from '../../libs/outbox/src/store/index.js';
import { runSteps } from '../../libs/outbox/src/store/run-steps.js';
import { insertOrderedEventsSql } from '../../libs/outbox/src/store/sql/insert-events.sql.js';
import type { SqlSteps } from '../../libs/outbox/src/store/sql-client.js';
import { createTestDatabase } from '../support/database.js';
import {
  DESTINATION,
  type DeliveryState,
  type Emitted,
  type QueueState,
  START_MS,
  type StoreUnderTest,
} from './delivery-store-contract-harness.js';

/**
 * The database's clock and its dice in the hands of the test: functions that come before those of PostgreSQL on the search path.
 * The statements under test are the real ones.
 */
const CLOCK_SQL = `
create schema clock;
create table clock.reading (value timestamptz not null);
insert into clock.reading values (to_timestamp(${START_MS} / 1000.0));
create function clock.now() returns timestamptz language sql stable as 'select value from clock.reading';
create function clock.clock_timestamp() returns timestamptz language sql volatile as 'select value from clock.reading';
create function clock.random() returns float8 language sql volatile as 'select 0.0::float8'`;

const names = outboxNames('public', resolveTables());
/** Lanes that were never claimed have no order among themselves; a comparison with another store needs one. */
const NUMBER_LANES_SQL = `update ${names.lane} set claimed_at = to_timestamp(lane) where claimed_at = 'epoch'`;

/** Lower bits of a token, without which it is the number of the claim, as in the other store. */
const RANDOM_BITS = 20n;

const MS = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`;

/** The PostgreSQL stores, on a database of their own, under the hands of the contract suite. */
export async function openPostgresStore(completion: Completion = 'delete'): Promise<StoreUnderTest> {
  const database = await createTestDatabase();
  await database.query(CLOCK_SQL);
  const pool = new pg.Pool({
    connectionString: database.url,
    max: 1,
    options: '-c search_path=clock,pg_catalog,public -c synchronous_commit=off',
  });
  // A connection that is being closed when the database is dropped says so, and nobody needs to know.
  pool.on('error', () => undefined);
  await pool.query(outboxSchemaSql());
  const client: SqlClient & SqlSteps = {
    query: (text, values) => pool.query(text, [...values]),
    async execute(steps) {
      const connection = await pool.connect();
      try {
        return await runSteps(connection, steps, { isPrepared: false });
      } finally {
        connection.release();
      }
    },
  };
  const rows = async <Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
    (await client.query(text, values)).rows as Row[];
  let now = START_MS;
  const setClock = async (ms: number): Promise<void> => {
    now = ms;
    await rows('update clock.reading set value = to_timestamp($1 / 1000.0)', [now]);
  };
  class StoreWithNumberedLanesAndClaims extends PostgresDeliveryStore {
    override async prepare(destination: string): Promise<void> {
      await super.prepare(destination);
      await rows(NUMBER_LANES_SQL);
    }
    override async claim(request: ClaimRequest): Promise<ClaimAnswer> {
      return numbered(await super.claim(request));
    }
    override renew(claim: Claim, ids: readonly string[], leaseMs: number): Promise<number> {
      return super.renew(withToken(claim), ids, leaseMs);
    }
    override finalize(claim: Claim, outcomes: Finalization): Promise<number> {
      return super.finalize(withToken(claim), outcomes);
    }
    override async finalizeAndClaim(claim: Claim, outcomes: Finalization, request: ClaimRequest) {
      const { missed, answer } = await super.finalizeAndClaim(withToken(claim), outcomes, request);
      return { missed, answer: numbered(answer) };
    }
  }
  return {
    deliveries: new StoreWithNumberedLanesAndClaims(client, names, completion),
    breakers: new PostgresBreakerStore(client, names),
    deadLetters: new PostgresDeadLetterStore(client, names),
    async emit(...events) {
      await rows(insertOrderedEventsSql(names), [toEventRows(events.map(toStorable)), null]);
      const newest = `select d.id from ${names.delivery} d order by d.id desc limit $1`;
      const ids = await rows<{ id: string }>(`select n.id::text from (${newest}) n order by n.id`, [events.length]);
      return ids.map(({ id }) => id);
    },
    now: () => now,
    passTime: (ms) => setClock(now + ms),
    async state() {
      const [row] = await rows<{ state: QueueState }>(STATE_SQL);
      return withUndefined(row?.state);
    },
    async reset() {
      const tables = [
        names.event,
        names.delivery,
        names.archive,
        names.operation,
        names.lane,
        names.aggregate,
        names.destination,
      ];
      await rows(`truncate ${tables.join(', ')} restart identity`);
      await rows(`alter sequence ${names.token} restart`);
      await setClock(START_MS);
    },
    async close() {
      await pool.end();
      await database.drop();
    },
  };
}

function numbered(answer: ClaimAnswer): ClaimAnswer {
  if (answer.kind !== 'claimed') return answer;
  return { ...answer, claim: { ...answer.claim, token: String(BigInt(answer.claim.token) >> RANDOM_BITS) } };
}

function withToken(claim: Claim): Claim {
  return { ...claim, token: String(BigInt(claim.token) << RANDOM_BITS) };
}

function toStorable({ aggregate, bytes = 10, destination = DESTINATION }: Emitted): StorableEvent {
  return {
    id: randomUUID(),
    type: 'tested',
    aggregateType: 'test',
    aggregateId: aggregate ?? randomUUID(),
    payload: '{}',
    payloadBytes: bytes,
    headers: '{}',
    version: 1,
    orderingKey: aggregate === undefined ? undefined : orderingKey('test', aggregate),
    destinations: [destination],
  };
}

/** One statement, so that the differential test asks once for each step. */
const STATE_SQL = `select jsonb_build_object(
  'deliveries', (select coalesce(jsonb_agg(jsonb_build_object('id', d.id::text,
      'status', case d.status when 0 then 'pending' when 1 then 'dead' else 'done' end, 'holdsKey', d.holds_key,
      'attempts', d.attempts, 'availableAt', ${MS('d.available_at')}, 'leaseUntil', ${MS('d.lease_until')},
      'token', (d.lease_version >> ${RANDOM_BITS})::text, 'error', d.last_error) order by d.id), '[]') from ${names.delivery} d),
  'lanes', (select coalesce(jsonb_agg(jsonb_build_object('destination', l.destination, 'lane', l.lane,
      'leaseUntil', ${MS('l.lease_until')}, 'token', (l.lease_version >> ${RANDOM_BITS})::text) order by l.destination, l.lane), '[]')
    from ${names.lane} l where l.lease_version <> 0),
  'breakers', (select coalesce(jsonb_agg(jsonb_build_object('destination', t.destination, 'failures', t.failures,
      'resumeAt', ${MS('t.resume_at')}) order by t.destination), '[]')
    from ${names.destination} t),
  'archive', (select coalesce(jsonb_agg(a.id::text order by a.id), '[]') from ${names.archive} a)) as state`;

/** SQL says null where the stores say undefined. */
function withUndefined(state: QueueState | undefined): QueueState {
  if (state === undefined) throw new Error('the state was not answered');
  const blank = <T>(value: T | null | undefined): T | undefined => value ?? undefined;
  return {
    deliveries: state.deliveries.map(
      (one): DeliveryState => ({ ...one, leaseUntil: blank(one.leaseUntil), error: blank(one.error) }),
    ),
    lanes: state.lanes.map((one) => ({ ...one, leaseUntil: blank(one.leaseUntil) })),
    breakers: state.breakers,
    archive: state.archive,
  };
}
