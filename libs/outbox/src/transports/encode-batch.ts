import { isDead } from './cloud-event-message.js';
import { orderedKey } from './ordered-key.js';
import { type Dead, held, type PublishOutcome } from './publish-outcome.js';
import type { OutgoingEvent } from './transport.js';

/** An event, written as its destination takes it. */
export interface EncodedEvent<M> {
  readonly event: OutgoingEvent;
  readonly message: M;
}

/** What can be sent of a batch, and what became of the rest; outcomes of the former are to be added. */
export interface EncodedBatch<M> {
  readonly encoded: readonly EncodedEvent<M>[];
  readonly outcomes: Map<OutgoingEvent, PublishOutcome>;
}

/** Writes every event of a batch. Behind one that cannot be written, the later ones of its aggregate are held. */
export function encodeBatch<M extends object>(
  batch: readonly OutgoingEvent[],
  encode: (event: OutgoingEvent) => M | Dead,
): EncodedBatch<M> {
  const outcomes = new Map<OutgoingEvent, PublishOutcome>();
  const stopped = new Set<string>();
  const encoded: EncodedEvent<M>[] = [];
  for (const event of batch) {
    const key = orderedKey(event);
    const message = key !== undefined && stopped.has(key) ? held : encode(event);
    if (message === held || isDead(message)) {
      if (key !== undefined) stopped.add(key);
      outcomes.set(event, message as PublishOutcome);
    } else encoded.push({ event, message: message as M });
  }
  return { encoded, outcomes };
}

/** Whether the destination said nothing of all that was sent to it: then the connection itself may be dead. */
export function isSilent<M>({ encoded, outcomes }: EncodedBatch<M>): boolean {
  return encoded.length > 0 && encoded.every(({ event }) => !outcomes.has(event));
}
