import type { OutboxNames } from '../table-names.js';
import { LANES } from './insert-events.sql.js';

/** Makes destination $1 and its lanes exist. Locks nothing that exists; zero rows mean that they were there. */
export function prepareDestinationSql(names: OutboxNames): string {
  return `with known as (
  insert into ${names.destination} (destination) values ($1) on conflict do nothing
)
insert into ${names.lane} (destination, lane)
select $1, lane from generate_series(0, ${LANES - 1}) as lane
on conflict do nothing`;
}
