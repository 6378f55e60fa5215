import { validateHeaderName, validateHeaderValue } from 'node:http';
import { ConfigurationError } from '../../errors/index.js';

/** Names that the transport or the connection sets; a second value could break framing or the signature. */
const RESERVED = new Set([
  'content-type',
  'content-length',
  'host',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'expect',
]);

/**
 * Headers in lower case.
 *
 * @throws ConfigurationError with the name, never the value, of a header that is reserved, malformed or given twice.
 */
export function requireStaticHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const accepted = new Map<string, string>();
  for (const [given, value] of Object.entries(headers)) {
    const name = given.toLowerCase();
    if (RESERVED.has(name)) throw refused(given, 'is set by the transport itself. Leave it out.');
    if (accepted.has(name)) throw refused(given, 'is given twice. Keep one spelling.');
    if (!isValid(name, value)) throw refused(given, 'has a name or value that HTTP does not allow.');
    accepted.set(name, value);
  }
  return Object.fromEntries(accepted);
}

/** Node's own error is dropped on purpose: the caller says the same without any chance of naming the value. */
function isValid(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return typeof value === 'string';
  } catch {
    return false;
  }
}

function refused(name: string, problem: string): ConfigurationError {
  return new ConfigurationError(`HttpTransport: header ${JSON.stringify(name)} ${problem}`);
}
