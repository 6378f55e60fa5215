import { JetStreamApiError } from '@nats-io/jetstream';
import { errors } from '@nats-io/transport-node';
import { describeError } from '../../errors/index.js';
import type { Dead, Retry, Unreachable } from '../publish-outcome.js';

/** `JSStreamMessageExceedsMaximumErr` of the server's `errors.json`. */
const MESSAGE_EXCEEDS_MAXIMUM = 10054;

/** What an error of a publish means for its event. */
export function natsFailure(error: unknown, subject: string): Dead | Retry | Unreachable {
  const text = describeError(error);
  if (error instanceof JetStreamApiError && error.code === MESSAGE_EXCEEDS_MAXIMUM) {
    return { kind: 'dead', error: `the stream refused: ${text}` };
  }
  // Refused by the client before anything is sent: larger than the server's limit, or no subject at all.
  if (error instanceof errors.InvalidArgumentError || error instanceof errors.InvalidSubjectError) {
    return { kind: 'dead', error: `it cannot be published to "${subject}": ${text}` };
  }
  if (error instanceof errors.ClosedConnectionError || error instanceof errors.DrainingConnectionError) {
    return { kind: 'unreachable', error: `the connection to NATS is closed: ${text}` };
  }
  if (hasNoResponders(error)) {
    return {
      kind: 'retry',
      error: `no stream takes the subject "${subject}", or JetStream is off. Make a stream for it: ${text}`,
    };
  }
  return { kind: 'retry', error: `the stream did not acknowledge: ${text}` };
}

/** Nobody answers for a subject: JetStream says so, with an error of its own around it. */
function hasNoResponders(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof errors.NoRespondersError || current.name === 'JetStreamNotEnabled') return true;
    if (current instanceof errors.RequestError && current.isNoResponders()) return true;
  }
  return false;
}
