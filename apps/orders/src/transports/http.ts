import type { Transport } from 'nestjs-transactional-outbox';
import { HttpTransport } from 'nestjs-transactional-outbox/http';
import type { Environment } from '../environment.js';
import { type Destination, SOURCE } from './destination.js';

export function transportTo(destination: Destination, environment: Environment): Transport {
  const { SHIPPING_URL, INVENTORY_URL, WEBHOOK_SECRET } = environment;
  const url = destination === 'shipping' ? SHIPPING_URL : INVENTORY_URL;
  return new HttpTransport({ url, secret: WEBHOOK_SECRET, source: SOURCE });
}
