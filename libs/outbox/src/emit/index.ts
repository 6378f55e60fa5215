export type { EmitOptions } from './emit-options.js';
export { EmitsEvent, type EventFields, type MappedEvent } from './emits-event.decorator.js';
export { EmitsEventExplorer } from './emits-event-explorer.js';
export type { EmitsEventOptions } from './emits-event-metadata.js';
export { OutboxService } from './outbox.service.js';
export { SilentChangeDetector } from './silent-change-detector.js';
