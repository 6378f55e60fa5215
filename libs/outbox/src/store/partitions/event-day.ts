/** Days of UTC, which are all of one length. */
export const DAY_MS = 86_400_000;

/** Beginning of the day, in ms since 1970. */
export function startOfDay(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS;
}

/** The lowest UUID that begins with this time as UUID version 7 does (RFC 9562): every event id of then is above it. */
export function lowestIdAt(ms: number): string {
  const hex = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The time with which a UUID begins. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
}

/** `p20261103`: suffix of the partition of a day. */
export function dayName(startMs: number): string {
  return `p${new Date(startMs).toISOString().slice(0, 10).replaceAll('-', '')}`;
}
