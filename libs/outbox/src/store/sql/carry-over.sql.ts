/**
 * The statements that give a new table by the name of the log $1 what the log has, and that let the views which read it
 * read the new one; to be asked before the log is renamed to $2 (both qualified), and run, in this order, afterwards.
 * With an empty search_path, so that the names in the views are qualified.
 */
export const CARRY_OVER_SQL = `with log as (select c.* from pg_class c where c.oid = to_regclass($1))
select format('alter table %s owner to %I', $1::text, o.rolname) as statement, 1 as turn
from log join pg_roles o on o.oid = log.relowner where o.rolname <> current_user
union all
select format('grant %s on %s to %s%s', a.privilege_type, $1::text, coalesce(quote_ident(g.rolname), 'public'),
  case when a.is_grantable then ' with grant option' end), 2
from log cross join lateral aclexplode(log.relacl) a left join pg_roles g on g.oid = a.grantee
where a.grantee <> log.relowner
union all
select format('grant %s (%I) on %s to %s%s', a.privilege_type, c.attname, $1::text, coalesce(quote_ident(g.rolname), 'public'),
  case when a.is_grantable then ' with grant option' end), 2
from log join pg_attribute c on c.attrelid = log.oid and not c.attisdropped
cross join lateral aclexplode(c.attacl) a left join pg_roles g on g.oid = a.grantee
union all
select format('comment on table %s is %L', $1::text, obj_description(log.oid, 'pg_class')), 3
from log where obj_description(log.oid, 'pg_class') is not null
union all
select format('create or replace view %I.%I%s as %s', n.nspname, v.relname,
  ' with (' || array_to_string(v.reloptions, ', ') || ')', pg_get_viewdef(v.oid)), 4
from log join pg_depend d on d.refclassid = 'pg_class'::regclass and d.refobjid = log.oid and d.classid = 'pg_rewrite'::regclass
join pg_rewrite r on r.oid = d.objid join pg_class v on v.oid = r.ev_class and v.relkind = 'v'
join pg_namespace n on n.oid = v.relnamespace
group by v.oid, n.nspname, v.relname, v.reloptions
union all
select format(change.text, p.pubname, change.place), change.turn
from log join pg_publication_rel r on r.prrelid = log.oid join pg_publication p on p.oid = r.prpubid
cross join lateral (values ('alter publication %I drop table %s', $2::text, 5), ('alter publication %I add table %s', $1::text, 6))
  as change(text, place, turn)
order by turn`;
