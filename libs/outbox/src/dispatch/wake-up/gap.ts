/** Long enough for a transaction that was about to commit, short enough that nobody notices. */
const SHORTEST_MS = 5;
/** Where commits come faster than one a millisecond, few looks that find many events leave the database to its writers. */
const LONGEST_MS = 25;

/** Milliseconds until the next look or notification, a millisecond for each wake-up that the last one answered. */
export function gapMs(wakeUps: number): number {
  return Math.min(Math.max(SHORTEST_MS, wakeUps), LONGEST_MS);
}
