import type { OutgoingEvent } from './transport.js';

/**
 * By what a destination may drop a second copy: the event's id for every retry, and another one for each redrive, or a
 * destination that has the event would swallow what somebody asked for on purpose. Consumers go by the event's id.
 */
export function dedupeId({ envelope, redrives }: OutgoingEvent): string {
  return redrives === 0 ? envelope.id : `${envelope.id}-${redrives}`;
}
