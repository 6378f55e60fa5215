import type { EventHeaders } from '../event/index.js';

export interface EmitOptions {
  /** Text that travels with the events: tenant, correlation, trace context. At most 16 KiB as JSON. */
  readonly headers?: EventHeaders;
}
