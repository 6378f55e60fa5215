import { resolveSchema, resolveTables } from '../../config/index.js';
import { type OutboxNames, outboxNames } from '../table-names.js';
import { wakeUpChannel } from '../wake-up-channel.js';
import type { OutboxSchemaOptions } from './schema-sql.js';

/**
 * SQL text of a trigger that wakes the dispatchers when anybody inserts into the delivery table, for writers that are
 * not this library: its own processes wake them without. May be run again. Remove it by `outboxWakeUpTriggerDownSql`
 * before the tables go.
 *
 * A notification inside a transaction takes a lock of the whole server at its commit. So of the transactions that write
 * to a destination at the same time only one notifies, which the others do not wait for: what they commit later than
 * a few milliseconds after it is found by polling.
 *
 * @throws ConfigurationError for a schema or table name that cannot be one.
 */
export function outboxWakeUpTriggerSql(options: OutboxSchemaOptions = {}): string {
  const names = namesOf(options);
  const { fn, trigger } = triggerNames(names);
  const channel = wakeUpChannel(names); // a hash in hexadecimal: nothing in it needs to be escaped
  return `begin;
create or replace function ${fn}() returns trigger language plpgsql as $wake_up$
begin
  perform pg_notify('${channel}', destination)
  from (select distinct destination from inserted) as written
  where pg_try_advisory_xact_lock(hashtextextended('${channel}', hashtext(destination)));
  return null;
end
$wake_up$;
drop trigger if exists ${trigger} on ${names.delivery};
create trigger ${trigger} after insert on ${names.delivery}
referencing new table as inserted for each statement execute function ${fn}();
commit;
`;
}

/** SQL text that takes away what `outboxWakeUpTriggerSql` made. May be run again, and without it. */
export function outboxWakeUpTriggerDownSql(options: OutboxSchemaOptions = {}): string {
  const names = namesOf(options);
  const { fn, trigger } = triggerNames(names);
  return `begin;
drop trigger if exists ${trigger} on ${names.delivery};
drop function if exists ${fn}();
commit;
`;
}

function namesOf(options: OutboxSchemaOptions): OutboxNames {
  return outboxNames(resolveSchema(options.schema), resolveTables(options.tables));
}

function triggerNames(names: OutboxNames): { readonly fn: string; readonly trigger: string } {
  const trigger = names.index('delivery', 'wake_up');
  return { fn: `${names.schema}.${trigger}`, trigger };
}
