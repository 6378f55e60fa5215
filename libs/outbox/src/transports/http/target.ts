import { isIP } from 'node:net';
import { OutboxError } from '../../errors/index.js';
import type { AddressPolicy } from './address-policy.js';

export const NOT_PUBLIC =
  'it leads to an address that is not public. Name it in ssrfGuard.allow if it should be asked.';

/** The URL, or an address behind it, must not be asked: permanent. The text never contains the URL itself. */
export class TargetRefusedError extends OutboxError {
  constructor(problem: string) {
    super(`the URL is refused: ${problem}`, { code: 'OUTBOX_TARGET_REFUSED' });
  }
}

/**
 * Reads a URL as WHATWG does, which turns `2130706433` and `0x7f.1` into the address they mean, and refuses what must
 * not be asked. Addresses behind a host name are left to the lookup, because only there they are those connected to.
 *
 * @throws TargetRefusedError
 */
export function parseTarget(text: string, addressPolicy: AddressPolicy | undefined): URL {
  if (!URL.canParse(text)) throw new TargetRefusedError('it is not an absolute URL.');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TargetRefusedError('its scheme is neither http: nor https:.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new TargetRefusedError('it contains credentials. Put them into the option "headers".');
  }
  const literal = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) !== 0 && addressPolicy?.allowsAddress(literal) === false) throw new TargetRefusedError(NOT_PUBLIC);
  return url;
}
