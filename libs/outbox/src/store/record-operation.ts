import type { OutboxNames } from './table-names.js';

/** Three parameters of every change by hand: who, why, and what was asked for as JSON. */
export interface OperationParameters {
  readonly actor: string;
  readonly reason: string;
  readonly details: string;
}

/**
 * Two expressions of a `with` list: `operation`, whose `id` is new for each, and `recorded`, which writes down what
 * `changed` has returned, unless that is nothing.
 */
export function operationId(names: OutboxNames): string {
  const table = names.operation.replaceAll("'", "''");
  return `operation as materialized (select nextval(pg_get_serial_sequence('${table}', 'id'))::int as id)`;
}

export function recordOperation(
  names: OutboxNames,
  action: string,
  { actor, reason, details }: OperationParameters,
): string {
  return `recorded as (
  insert into ${names.operation} (id, actor, action, reason, details, affected) overriding system value
  select (select id from operation), ${actor}::text, '${action}', ${reason}::text, ${details}::jsonb, count(*)
  from changed having count(*) > 0
)`;
}
