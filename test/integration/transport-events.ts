import type { EventEnvelope } from '../../libs/outbox/src/event/index.js';
import { sampleEvent } from '../../libs/outbox/src/testing/transport-contract/sample-events.js';
import type { OutgoingEvent, PublishOutcome, Transport } from '../../libs/outbox/src/transports/index.js';

/** An unordered `order.placed` of its own order, unless told otherwise. */
export function outgoingEvent(envelope: Partial<EventEnvelope> = {}, attempt = 1): OutgoingEvent {
  return sampleEvent(envelope, { destination: 'shipping', attempt });
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
