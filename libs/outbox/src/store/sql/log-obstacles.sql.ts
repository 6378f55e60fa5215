/**
 * What hangs on the event log $1 and would not go along when a partitioned one takes its place; a row for each, with
 * what to do in `advice`. Locks nothing. Zero rows: it may be replaced. Views, rights, owner, comments, indexes and the
 * membership in publications go along (carry-over.sql.ts).
 */
export const LOG_OBSTACLES_SQL = `with log as (select c.* from pg_class c where c.oid = to_regclass($1))
select 'foreign key ' || quote_ident(k.conname) || ' of ' || k.conrelid::regclass || ' refers to it' as obstacle,
  'drop it: an event goes with the retention' as advice
from log join pg_constraint k on k.confrelid = log.oid where k.contype = 'f'
union all
select 'trigger ' || quote_ident(t.tgname), 'drop it, and create it again on the partitioned log'
from log join pg_trigger t on t.tgrelid = log.oid where not t.tgisinternal
union all
select 'row-level security', 'disable it and drop its policies, and restore both afterwards'
from log where log.relrowsecurity or exists (select from pg_policy p where p.polrelid = log.oid)
union all
select 'rule ' || quote_ident(r.rulename), 'drop it, and create it again on the partitioned log'
from log join pg_rewrite r on r.ev_class = log.oid
union all
select distinct 'materialized view ' || v.oid::regclass || ' reads it', 'drop it, and create it again afterwards'
from log join pg_depend d on d.refclassid = 'pg_class'::regclass and d.refobjid = log.oid and d.classid = 'pg_rewrite'::regclass
join pg_rewrite r on r.oid = d.objid join pg_class v on v.oid = r.ev_class and v.relkind = 'm'
union all
select distinct 'function ' || d.objid::regprocedure || ' reads it', 'drop it, and create it again afterwards'
from log join pg_depend d on d.refclassid = 'pg_class'::regclass and d.refobjid = log.oid and d.classid = 'pg_proc'::regclass
union all
select 'inheritance from or by other tables', 'end it by "alter table … no inherit …"'
from log where exists (select from pg_inherits i where log.oid in (i.inhparent, i.inhrelid))
union all
select 'replica identity ' || log.relreplident::text, 'set it to default' from log where log.relreplident <> 'd'
union all
select 'unique index ' || i.indexrelid::regclass || ' without the column id', 'drop it: a partitioned table cannot have it'
from log join pg_index i on i.indrelid = log.oid and i.indisunique
where not exists (select from pg_attribute a where a.attrelid = log.oid and a.attname = 'id' and a.attnum = any (i.indkey))
union all
select 'publication ' || quote_ident(p.pubname) || ' would name partitions instead of the log',
  format('run "alter publication %I set (publish_via_partition_root = true)"', p.pubname)
from log join pg_namespace n on n.oid = log.relnamespace
join pg_publication_tables t on t.schemaname = n.nspname and t.tablename = log.relname
join pg_publication p on p.pubname = t.pubname where not p.pubviaroot
union all
select 'publication ' || quote_ident(p.pubname) || ' has a column list or a row filter for it',
  'take the log out of the publication, and put it back afterwards'
from log join pg_publication_rel r on r.prrelid = log.oid join pg_publication p on p.oid = r.prpubid
where to_jsonb(r) ->> 'prattrs' is not null or to_jsonb(r) ->> 'prqual' is not null`;
