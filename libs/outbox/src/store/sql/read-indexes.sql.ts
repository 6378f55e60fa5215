/** Which of the indexes $1, quoted and qualified, are there and can be used. Locks nothing; a row for each. */
export function readIndexesSql(): string {
  return `select wanted.name, i.indexrelid is not null as is_present, coalesce(i.indisvalid and i.indisready, false) as is_usable
from unnest($1::text[]) as wanted(name)
left join pg_index i on i.indexrelid = to_regclass(wanted.name)`;
}
