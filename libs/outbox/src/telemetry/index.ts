export type { BacklogFigures } from './backlog-gauges.js';
export type { DestinationTelemetry } from './destination-telemetry.js';
export { InboxTelemetry } from './inbox-telemetry.js';
export { OutboxTelemetry } from './outbox-telemetry.js';
export { carriesTrace } from './trace-headers.js';
