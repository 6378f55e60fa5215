import type { EventEnvelope } from '../../libs/outbox/src/event/index.js';
import { newEventId } from '../../libs/outbox/src/event/index.js';
import type { OutgoingEvent, PublishOutcome, Transport } from '../../libs/outbox/src/transports/index.js';

/** An unordered `order.placed` of its own order, unless told otherwise. */
export function outgoingEvent(envelope: Partial<EventEnvelope> = {}, attempt = 1): OutgoingEvent {
  return {
    destination: 'shipping',
    attempt,
    redrives: 0,
    envelope: {
      id: newEventId(),
      type: 'order.placed',
      aggregateType: 'order',
      aggregateId: newEventId(),
      payload: { amountCents: 4200 },
      headers: {},
      version: 1,
      sequence: undefined,
      createdAt: new Date('2025-03-04T05:06:07.089Z'),
      ...envelope,
    },
  };
}

/** Publishes one event and returns its one outcome. */
export async function publishOne(
  transport: Transport,
  event: OutgoingEvent = outgoingEvent(),
  signal: AbortSignal = new AbortController().signal,
): Promise<PublishOutcome> {
  const [outcome, ...others] = await transport.publish([event], signal);
  if (outcome === undefined || others.length > 0) throw new Error('a batch of one must have one outcome');
  return outcome;
}
