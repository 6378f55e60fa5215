import type { Transport } from 'nestjs-transactional-outbox';
import { InProcessTransport } from 'nestjs-transactional-outbox/in-process';
import { SOURCE } from './destination.js';

/** The handlers are in this application: see monolith.ts. */
export function transportTo(): Transport {
  return new InProcessTransport({ source: SOURCE });
}
