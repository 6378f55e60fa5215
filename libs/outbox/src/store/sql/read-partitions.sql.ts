import { literal } from '../migrations/schema-dialect.js';
import type { OutboxNames } from '../table-names.js';

/** The partitions of the event log with their bounds as text. Locks nothing; zero rows: the log is not partitioned. */
export function readPartitionsSql(names: OutboxNames): string {
  return `select p.oid::regclass::text as name, pg_get_expr(p.relpartbound, p.oid) as bound, pg_relation_size(p.oid)::float8 as bytes
from pg_partitioned_table t
join pg_inherits i on i.inhparent = t.partrelid
join pg_class p on p.oid = i.inhrelid
where t.partrelid = to_regclass(${literal(names.event)})
order by p.relname`;
}
