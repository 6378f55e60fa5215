import { createHash } from 'node:crypto';
import { notifyDestinationsSql } from './sql/notify-destinations.sql.js';
import type { SqlClient } from './sql-client.js';
import type { OutboxNames } from './table-names.js';

/**
 * Name of the NOTIFY channel of one outbox. A hash, because a channel has at most 63 bytes and is folded to lower case
 * where it is not quoted; so LISTEN and NOTIFY agree whatever the schema is called, and two outboxes never share one.
 */
export function wakeUpChannel(names: OutboxNames): string {
  return `outbox_${createHash('sha256').update(names.delivery).digest('hex').slice(0, 32)}`;
}

/** Where a listener proves that notifications arrive. Beside the channel, because a destination may have any name. */
export function probeChannel(channel: string): string {
  return `${channel}_probe`;
}

/** Tells the dispatchers of other processes that these destinations have work. */
export async function notifyDestinations(
  client: SqlClient,
  channel: string,
  destinations: readonly string[],
): Promise<void> {
  await client.query(notifyDestinationsSql(), [channel, destinations]);
}
