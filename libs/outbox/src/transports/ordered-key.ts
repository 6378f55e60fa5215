import { orderingKey } from '../event/index.js';
import type { OutgoingEvent } from './transport.js';

/** The aggregate's key; undefined for unordered events: they neither hold others nor are held. */
export function orderedKey({ envelope }: OutgoingEvent): string | undefined {
  return envelope.sequence === undefined ? undefined : orderingKey(envelope.aggregateType, envelope.aggregateId);
}
