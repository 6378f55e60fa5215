import type { InboxNames } from '../table-names.js';

/**
 * Adds a result to the record that the same transaction has made. $1 consumer, $2 event id, $3 JSON text.
 *
 * Rides the primary key and changes no indexed column. The row is locked by its own transaction already.
 */
export function keepProcessedResultSql(names: InboxNames): string {
  return `update ${names.processed} set result = $3::jsonb where consumer_name = $1 and event_id = $2`;
}
