import { CloudEvent } from 'cloudevents';
import { ConfigurationError } from '../errors/index.js';

/** What `source` says of an event when nobody says better. */
export const DEFAULT_SOURCE = '/nestjs-transactional-outbox';

/**
 * The envelope library knows what a URI reference is; asking it at the start spares a dead letter per event later.
 *
 * @throws ConfigurationError
 */
export function requireSource(transport: string, source: string = DEFAULT_SOURCE): string {
  try {
    new CloudEvent({ id: 'probe', type: 'probe', source });
    return source;
  } catch (error) {
    throw new ConfigurationError(`${transport}: "source" must be a URI reference, for example "/orders".`, error);
  }
}
