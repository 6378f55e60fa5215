import type { Environment } from '../environment.js';

/** Who has to hear of orders. */
export type Destination = 'shipping' | 'inventory';

/** CloudEvents `source` of everything that this application states. */
export const SOURCE = '/orders';

/** Name of the stream, queue or topic of a destination. */
export function placeOf({ PLACE_PREFIX }: Environment, destination: string): string {
  return `${PLACE_PREFIX}-${destination}`;
}
