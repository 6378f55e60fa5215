import type { OutboxNames } from '../table-names.js';

/**
 * Leaves destination $1 alone: $2 is this a probe, $3 base and $4 cap of the pause in ms, $5 jitter, $6 error. Locks its row.
 * Answers one row: `pause_ms`, never more than the pause of a failure: while a probe is out, `resume_at` is the end of its
 * lease, and what was under way must not wait for that when the probe gets through.
 */
export function tripBreakerSql(names: OutboxNames): string {
  const counts = '($2::boolean or t.failures = 0)';
  const pauseMs = (failures: string): string =>
    `least($4::float8, $3::float8 * 2 ^ least(${failures}, 40)) * $5::float8`;
  return `with tripped as (
  update ${names.destination} t
  set failures = case when ${counts} then least(t.failures, 1000) + 1 else t.failures end,
    resume_at = case when ${counts}
      then clock_timestamp() + ${pauseMs('t.failures')} * interval '1 millisecond'
      else t.resume_at end,
    last_error = $6
  where t.destination = $1
  returning t.failures, t.resume_at
)
select least(${pauseMs('failures')},
  greatest(0, extract(epoch from resume_at - clock_timestamp()) * 1000))::float8 as pause_ms from tripped`;
}

/** Destination $1 was reached. Locks its row. Zero rows mean that it was not left alone. */
export function closeBreakerSql(names: OutboxNames): string {
  return `update ${names.destination} set failures = 0, resume_at = 'epoch', last_error = null
where destination = $1 and failures > 0`;
}

/** The probe of destination $1 had nothing to try. Locks its row. */
export function giveProbeBackSql(names: OutboxNames): string {
  return `update ${names.destination} set resume_at = now() where destination = $1 and failures > 0`;
}
