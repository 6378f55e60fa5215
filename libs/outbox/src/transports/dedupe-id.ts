import { createHash } from 'node:crypto';
import type { OutgoingEvent } from './transport.js';

const DESTINATION_CHARACTERS = 8;

/**
 * By what a broker may drop a second copy: the same for every retry, and another one for each redrive, or a broker that has the
 * event would swallow what somebody asked for on purpose. It differs for each destination, because two of them may lie in one
 * stream or queue, and each is promised a copy. Begins with the event's id; at most 57 letters, digits, `-` and `_`.
 * Consumers go by the event's id.
 */
export function dedupeId({ envelope, destination, redrives }: OutgoingEvent): string {
  const place = createHash('sha256').update(destination).digest('base64url').slice(0, DESTINATION_CHARACTERS);
  return redrives === 0 ? `${envelope.id}-${place}` : `${envelope.id}-${place}-${redrives}`;
}
