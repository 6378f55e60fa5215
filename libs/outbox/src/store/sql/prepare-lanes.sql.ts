import type { OutboxNames } from '../table-names.js';
import { LANES } from './insert-events.sql.js';

/** Makes the lanes of destination $1 exist. Locks nothing that exists; zero rows mean that they were there. */
export function prepareLanesSql(names: OutboxNames): string {
  return `insert into ${names.lane} (destination, lane)
select $1, lane from generate_series(0, ${LANES - 1}) as lane
on conflict do nothing`;
}
