/**
 * How the event log $1 (qualified name) is stored: a row for each partition, one without a name where there is none.
 * Locks nothing; zero rows mean that there is no such table. The bounds are those of its one column, `id`.
 */
export const READ_LOG_LAYOUT_SQL = `select case when p.relkind = 'p' then pg_get_partkeydef(p.oid) end as partition_key,
  (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms,
  c.relname as name, b.text = 'DEFAULT' as is_default,
  substring(b.text from 'FROM \\(''([0-9a-f-]{36})''\\)') as from_id,
  substring(b.text from 'TO \\(''([0-9a-f-]{36})''\\)') as to_id,
  greatest(c.reltuples, 0)::float8 as estimated_rows, pg_total_relation_size(c.oid)::float8 as bytes
from pg_class p
left join pg_inherits i on i.inhparent = p.oid and p.relkind = 'p'
left join pg_class c on c.oid = i.inhrelid
left join lateral (select pg_get_expr(c.relpartbound, c.oid)) as b(text) on true
where p.oid = to_regclass($1)
order by to_id nulls last, c.relname`;
