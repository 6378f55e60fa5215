export { cloudEventToReceivedEvent, envelopeToCloudEvent } from './cloud-event.js';
export type { EventEnvelope, EventHeaders } from './envelope.js';
export {
  aggregateIdProperty,
  type EventClass,
  type EventDefinition,
  findEventDefinition,
  type OnDead,
  requireEventDefinition,
} from './event-definition.js';
export { EVENT_HANDLERS, type EventHandlers } from './event-handlers.js';
export { newEventId } from './event-id.js';
export { orderingKey } from './ordering-key.js';
export { AggregateId, OutboxEvent, type OutboxEventOptions } from './outbox-event.decorator.js';
export { type PayloadJson, toPayloadJson } from './payload-json.js';
export type { ReceivedEvent } from './received-event.js';
