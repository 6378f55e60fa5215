/**
 * Names of attributes: those of OpenTelemetry's semantic conventions for messaging and CloudEvents, and our own where
 * they have none. They are public, as docs/operations/telemetry.md tells.
 */
export const ATTRIBUTES = {
  system: 'messaging.system',
  operationName: 'messaging.operation.name',
  operationType: 'messaging.operation.type',
  destination: 'messaging.destination.name',
  consumer: 'messaging.consumer.group.name',
  messageId: 'messaging.message.id',
  batchCount: 'messaging.batch.message_count',
  errorType: 'error.type',
  eventType: 'cloudevents.event_type',
  outbox: 'outbox.name',
  attempt: 'outbox.delivery.attempt',
  outcome: 'outbox.delivery.outcome',
  state: 'outbox.delivery.state',
  inboxOutcome: 'inbox.outcome',
} as const;

/**
 * The outbox itself, whatever carries its messages: an instrumented client of a broker says `kafka` or `rabbitmq` beside
 * it, and who adds both up by system counts no message twice.
 */
export const SYSTEM = 'outbox';

/** Buckets, in seconds, that the conventions ask for. */
export const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
