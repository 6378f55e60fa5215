import { InboxRefusedError } from '../../errors/index.js';
import { headerOf, type InboundRequest } from './inbound-request.js';

const PREFIX = 'ce-';

/**
 * The `ce-` headers as attributes: quoted text is unquoted, then percent-encoding is undone once, as the CloudEvents
 * HTTP binding asks.
 *
 * @throws InboxRefusedError (400) when a value is not encoded properly.
 */
export function binaryAttributes(request: InboundRequest): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const name of Object.keys(request.headers)) {
    const value = headerOf(request, name);
    if (!name.startsWith(PREFIX) || value === undefined) continue;
    attributes[name.slice(PREFIX.length)] = decode(name, value);
  }
  return attributes;
}

function decode(name: string, value: string): string {
  const plain = /^".*"$/.test(value) ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value;
  try {
    return decodeURIComponent(plain);
  } catch (error) {
    throw new InboxRefusedError(`the header ${name} is not percent-encoded UTF-8.`, 400, { cause: error });
  }
}
