import { withRedrive } from '../attempt-history.js';
import { operationId, recordOperation } from '../record-operation.js';
import type { OutboxNames } from '../table-names.js';

/**
 * Each null for all: $1 destination, $2 delivery ids, $3 event type, $4 aggregate type, $5 aggregate id, $6 created before,
 * $7 created after. Rides `…_dead` (destination, id).
 */
const SELECTED = `d.status = 1 and ($1::text is null or d.destination = $1) and ($2::bigint[] is null or d.id = any ($2::bigint[]))
  and ($3::text is null or e.type = $3) and ($4::text is null or e.aggregatetype = $4)
  and ($5::text is null or e.aggregateid = $5)
  and ($6::timestamptz is null or d.created_at < $6) and ($7::timestamptz is null or d.created_at >= $7)`;

const COLUMNS = `d.id::text, d.event_id, d.destination, d.attempts, d.last_error, d.created_at, d.holds_key,
  e.type, e.aggregatetype, e.aggregateid`;

const OPERATION = { actor: '$9', reason: '$10', details: '$11' };

/** Dead letters, oldest first, at most $8; null or after id $9. Locks nothing. */
export function listDeadLettersSql(names: OutboxNames): string {
  return `select ${COLUMNS}
from ${names.delivery} d left join ${names.event} e on e.id = d.event_id
where ${SELECTED} and ($9::bigint is null or d.id > $9)
order by d.id limit $8`;
}

/** How many dead letters there are. Locks nothing. */
export function countDeadLettersSql(names: OutboxNames): string {
  return `select count(*)::int as total
from ${names.delivery} d left join ${names.event} e on e.id = d.event_id
where ${SELECTED}`;
}

/** Dead letter $1 with its event and what was tried. Locks nothing; zero rows mean that it is none, or none any more. */
export function showDeadLetterSql(names: OutboxNames): string {
  return `select ${COLUMNS}, d.history, d.redrives,
  e.payload::text as payload, e.headers, e.version, e.sequence::text, e.created_at as emitted_at,
  (select count(*) from ${names.delivery} f
    where d.holds_key and f.destination = d.destination and f.lane = d.lane and f.ordering_key = d.ordering_key
      and f.status = 0 and f.id > d.id)::int as followers
from ${names.delivery} d left join ${names.event} e on e.id = d.event_id
where d.id = $1 and d.status = 1`;
}

/**
 * Puts dead letters back, the oldest $8 at most, one every $12 ms where that is not null. A key that one of them holds stays
 * held by it until it is claimed; those that have to wait hold theirs. Locks those rows. One row for each destination.
 */
export function redriveDeadLettersSql(names: OutboxNames): string {
  return `with ${operationId(names)}, selected as materialized (
  ${selectedForChange(names)}
), numbered as (
  select id, row_number() over (order by id) - 1 as place from selected
), changed as (
  update ${names.delivery} d
  set status = 0, attempts = 0, redrives = (select id from operation), lease_owner = null, lease_until = null,
    available_at = clock_timestamp() + n.place * coalesce($12::float8, 0) * interval '1 millisecond',
    holds_key = d.holds_key or (d.lane is not null and n.place > 0 and $12::float8 > 0),
    history = ${withRedrive('$9::text')}
  from numbered n where d.id = n.id and d.status = 1
  returning d.destination
), ${recordOperation(names, 'redrive', OPERATION)}
select destination, count(*)::int as count from changed group by destination`;
}

/** Gives dead letters up for good, the oldest $8 at most; their keys are free. Locks those rows. One row for each destination. */
export function discardDeadLettersSql(names: OutboxNames): string {
  return `with ${operationId(names)}, selected as materialized (
  ${selectedForChange(names)}
), changed as (
  delete from ${names.delivery} d using selected s where d.id = s.id and d.status = 1
  returning d.id, d.event_id, d.destination, d.attempts
), kept as (
  insert into ${names.archive} (id, event_id, destination, attempts, done_at, outcome)
  select id, event_id, destination, attempts, clock_timestamp(), 'discarded' from changed
), ${recordOperation(names, 'discard', OPERATION)}
select destination, count(*)::int as count from changed group by destination`;
}

function selectedForChange(names: OutboxNames): string {
  return `select d.id from ${names.delivery} d left join ${names.event} e on e.id = d.event_id
  where ${SELECTED}
  order by d.id limit $8 for update of d`;
}
