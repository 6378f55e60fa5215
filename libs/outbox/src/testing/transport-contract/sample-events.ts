import { newEventId } from '../../event/index.js';
import type { OutgoingEvent } from '../../transports/index.js';

/** An event like those that the dispatcher hands over; unordered unless a `sequence` is given. */
export function sampleEvent(
  envelope: Partial<OutgoingEvent['envelope']> = {},
  more: Partial<Omit<OutgoingEvent, 'envelope'>> = {},
): OutgoingEvent {
  return {
    destination: 'contract',
    attempt: 1,
    redrives: 0,
    ...more,
    envelope: {
      id: newEventId(),
      type: 'order.placed',
      aggregateType: 'order',
      aggregateId: newEventId(),
      payload: { amountCents: 4200 },
      headers: {},
      version: 1,
      sequence: undefined,
      createdAt: new Date(1_741_064_767_089),
      ...envelope,
    },
  };
}

/** Ordered events of one aggregate. */
export function sampleSteps(count: number, aggregateId: string = newEventId()): OutgoingEvent[] {
  return Array.from({ length: count }, (_, index) => sampleEvent({ aggregateId, sequence: BigInt(index + 1) }));
}
