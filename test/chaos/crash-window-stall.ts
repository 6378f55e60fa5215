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
  await database.query('create table stall_setting as select 0 as rows_to_pass');
  await database.query(`create function stall() returns trigger language plpgsql as $$
declare passed int := coalesce(nullif(current_setting('stall.passed', true), ''), '0');
begin
  if current_setting('application_name') !~ '^(doomed|dispatcher)' then return coalesce(new, old); end if;
  if passed >= (select rows_to_pass from stall_setting) then
    perform pg_advisory_xact_lock_shared(${LOCK}, ascii(tg_op));
  end if;
  perform set_config('stall.passed', (passed + 1)::text, false);
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

/** @param rowsToPass how many rows each session may change before: to be between two rows, or two statements. */
export async function startStall(database: TestDatabase, operation: Operation, rowsToPass: number): Promise<Stall> {
  const holder = new pg.Client(database.url);
  await holder.connect();
  await holder.query('update stall_setting set rows_to_pass = $1', [rowsToPass]);
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
