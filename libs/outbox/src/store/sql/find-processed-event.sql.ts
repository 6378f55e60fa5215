import type { InboxNames } from '../table-names.js';

/**
 * The record of an event. $1 consumer, $2 event id.
 *
 * Rides the primary key, locks nothing. No row: never processed, or pruned.
 */
export function findProcessedEventSql(names: InboxNames): string {
  return `select content_digest, result from ${names.processed} where consumer_name = $1 and event_id = $2`;
}
