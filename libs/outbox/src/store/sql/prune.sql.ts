import type { OutboxNames } from '../table-names.js';

// By now() and not clock_timestamp(), which may change from row to row, so that no index can serve it.

/**
 * Removes at most $2 deliveries, each, that were kept or archived and finished more than $1 ms ago, by the database's
 * clock. Skips what another process is removing. Zero means that there is nothing left.
 */
export function pruneDeliveriesSql(names: OutboxNames): string {
  return `with kept as (
  delete from ${names.delivery} where id = any (array(
    select id from ${names.delivery} where status = 2 and done_at < now() - $1 * interval '1 millisecond'
    order by id limit $2 for update skip locked))
  returning id
), archived as (
  delete from ${names.archive} where id = any (array(
    select id from ${names.archive} where done_at < now() - $1 * interval '1 millisecond'
    order by id limit $2 for update skip locked))
  returning id
)
select ((select count(*) from kept) + (select count(*) from archived))::int as pruned`;
}

/**
 * Removes at most $2 events of one table of the log that were written more than $1 ms ago and have no delivery left,
 * whatever its state: an undelivered event, a dead letter, or a delivery that is kept, keeps its event.
 *
 * Goes on behind the place $3, so that a batch does not read again what those before it left dead; rides the BRIN index
 * on created_at or that place, whichever leaves fewer pages. No place means that nothing was left behind $3.
 */
export function pruneEventsSql(names: OutboxNames, table = names.event): string {
  return `with old as materialized (
  select e.id, e.ctid as place from ${table} e
  where e.created_at < now() - $1 * interval '1 millisecond' and e.ctid > $3::tid
    and not exists (select from ${names.delivery} d where d.event_id = e.id)
    and not exists (select from ${names.archive} a where a.event_id = e.id)
  limit $2 for update skip locked
), pruned as (
  delete from ${table} where id = any (array(select id from old))
  returning id
)
select count(*)::int as pruned, (select max(place)::text from old) as place from pruned`;
}
