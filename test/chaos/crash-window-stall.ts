import pg from 'pg';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

/** First key of the advisory locks; the second one is the first letter of the operation. */
const LOCK = 4711;

/** What a statement does to rows. An insert is held when its transaction commits. */
export type Operation = 'INSERT' | 'UPDATE' | 'DELETE';

/** Holds the statements of doomed programs in the middle of their work. */
export interface Stall {
  /** Resolves when a statement of a doomed program waits in the middle. */
  reached(): Promise<void>;
  /** Ends the session that waits, so that PostgreSQL rolls its statement back. */
  abandon(): Promise<void>;
  /** Lets statements go on. */
  end(): Promise<void>;
}

/** Makes rows pass a place at which `startStall` can hold them. Only sessions of doomed programs ever wait there. */
export async function prepareStalls(database: TestDatabase): Promise<void> {
  await database.query(`create function stall() returns trigger language plpgsql as $$ begin
  if current_setting('application_name') ~ '^(doomed|dispatcher)' then
    perform pg_advisory_xact_lock_shared(${LOCK}, ascii(tg_op));
  end if;
  return coalesce(new, old);
end $$`);
  const pass = 'for each row execute function stall()';
  for (const table of ['outbox_delivery', 'outbox_event', 'processed_events'])
    await database.query(`create trigger stall before update or delete on ${table} ${pass}`);
  for (const table of ['orders', 'shipments'])
    await database.query(
      `create constraint trigger stall after insert on ${table} deferrable initially deferred ${pass}`,
    );
}

export async function startStall(database: TestDatabase, operation: Operation): Promise<Stall> {
  const holder = new pg.Client(database.url);
  await holder.connect();
  await holder.query('select pg_advisory_lock($1::int, ascii($2))', [LOCK, operation]);
  const waiting = async (): Promise<number[]> => {
    const { rows } = await holder.query<{ pid: number }>(
      `select pid from pg_locks where locktype = 'advisory' and classid = ${LOCK} and not granted
       and database = (select oid from pg_database where datname = current_database())`,
    );
    return rows.map(({ pid }) => pid);
  };
  return {
    reached: () =>
      eventually(
        async () => {
          if ((await waiting()).length === 0) throw new Error('no statement has come to the place where it is held');
        },
        { timeoutMs: 30_000 },
      ),
    async abandon() {
      for (const pid of await waiting()) await holder.query('select pg_terminate_backend($1, 10000)', [pid]);
    },
    end: () => holder.end(),
  };
}
