import type { TestDatabase } from '../support/database.js';

/** Remembers with how many attempts each delivery was finished, because its row goes then. */
export async function rememberAttempts(database: TestDatabase): Promise<{
  /** In the order in which they were finished. */
  finished(): Promise<{ eventId: string; attempts: number }[]>;
}> {
  await database.query('create table finished (place serial, event_id uuid, attempts int)');
  await database.query(`create function remember() returns trigger language plpgsql as $$ begin
  insert into finished (event_id, attempts) values (old.event_id, old.attempts);
  return old;
end $$`);
  await database.query(
    'create trigger remember before delete on outbox_delivery for each row execute function remember()',
  );
  return {
    finished: () => database.query('select event_id as "eventId", attempts from finished order by place'),
  };
}
