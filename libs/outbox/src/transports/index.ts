export {
  type Dead,
  type Defer,
  type Delivered,
  delivered,
  type Held,
  held,
  type PublishOutcome,
  type Retry,
  type Unreachable,
} from './publish-outcome.js';
export type { OutgoingEvent, Transport, TransportCapabilities, TransportHost } from './transport.js';
