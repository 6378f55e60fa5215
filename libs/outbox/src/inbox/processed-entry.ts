import { createHash } from 'node:crypto';
import canonicalizeExport from 'canonicalize';
import { InboxRefusedError } from '../errors/index.js';
import type { ProcessedEntry } from '../store/index.js';
import type { InboxMessage } from './inbox-message.js';

/** The package is CommonJS and exports the function itself, which its declaration, written for ESM, does not say. */
const canonicalize = canonicalizeExport as unknown as (value: unknown) => string | undefined;

export const MAX_CONSUMER_CHARACTERS = 100;
const MAX_ID_CHARACTERS = 255;
const MAX_TYPE_CHARACTERS = 255;

/**
 * Checks everything that PostgreSQL would refuse, so that a hostile id costs no transaction and never looks like a
 * failure that might pass.
 *
 * @throws InboxRefusedError (400)
 */
export function toProcessedEntry({ consumer, event }: InboxMessage): ProcessedEntry {
  requireText('consumer', consumer, MAX_CONSUMER_CHARACTERS);
  requireText('event id', event.id, MAX_ID_CHARACTERS);
  requireText('event type', event.type, MAX_TYPE_CHARACTERS);
  return { consumer, eventId: event.id, eventType: event.type, contentDigest: contentDigest(event) };
}

/**
 * SHA-256 over type and payload as canonical JSON (RFC 8785), so that another order of keys or another spacing is the
 * same content. Source, time and headers are not content: a redelivery may carry others.
 */
function contentDigest({ type, payload }: InboxMessage['event']): Buffer {
  try {
    return createHash('sha256')
      .update(canonicalize({ type, payload }) ?? '')
      .digest();
  } catch (error) {
    // Numbers beyond the range of JSON in JavaScript, values that are no JSON at all, nesting that exhausts the stack.
    throw new InboxRefusedError(
      'the payload cannot be written as canonical JSON: a number is too large, or it is nested too deeply.',
      400,
      { cause: error },
    );
  }
}

function requireText(field: string, text: unknown, maxCharacters: number): void {
  if (typeof text !== 'string' || text === '') {
    throw new InboxRefusedError(`the ${field} is missing or no text.`, 400);
  }
  if (text.length > maxCharacters) {
    throw new InboxRefusedError(`the ${field} has ${text.length} characters, the limit is ${maxCharacters}.`, 400);
  }
  if (text.includes('\u0000') || !text.isWellFormed()) {
    throw new InboxRefusedError(`the ${field} contains NUL or a lone surrogate, which PostgreSQL cannot store.`, 400);
  }
}
