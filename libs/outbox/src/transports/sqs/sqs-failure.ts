import { describeError } from '../../errors/index.js';
import type { Retry, Unreachable } from '../publish-outcome.js';

/** About the queue or the account as a whole. Some servers put the name of the service before it. */
const QUEUE_REFUSES =
  /(^|\.)(QueueDoesNotExist|NonExistentQueue|AccessDenied\w*|InvalidClientTokenId|UnrecognizedClientException|SignatureDoesNotMatch|ExpiredToken\w*|InvalidAddress|InvalidSecurity|CredentialsProviderError|Kms\w+)$/;

/** No connection was made, so nothing can have been sent on it. */
const NO_CONNECTION = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** What an error of a whole request means for its events. */
export function sqsFailure(error: unknown): Retry | Unreachable {
  const { name, code } = (typeof error === 'object' && error !== null ? error : {}) as {
    name?: unknown;
    code?: unknown;
  };
  const text = describeError(error);
  if (QUEUE_REFUSES.test(String(name))) return { kind: 'unreachable', error: `SQS refuses the queue: ${text}` };
  if (NO_CONNECTION.has(String(code))) return { kind: 'unreachable', error: `SQS cannot be reached: ${text}` };
  return { kind: 'retry', error: `SQS did not answer for the event: ${text}` };
}
