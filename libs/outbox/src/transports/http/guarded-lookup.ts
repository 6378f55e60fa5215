import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { AddressPolicy } from './address-policy.js';
import { NOT_PUBLIC, TargetRefusedError } from './target.js';

export const systemLookup: LookupFunction = lookup;

/**
 * A lookup for sockets that hands on a name's addresses only when every one of them may be connected to. The socket
 * connects to exactly what it is given here, so no second answer of the resolver can come in between.
 */
export function guardedLookup(resolve: LookupFunction, policy: AddressPolicy): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null && error !== undefined) return callback(error, '');
      const addresses = typeof found === 'string' ? [asLookupAddress(found)] : found;
      const [first] = addresses;
      if (first === undefined) return callback(noAddressError(), '');
      if (!policy.allowsHost(hostname) && !addresses.every(({ address }) => policy.allowsAddress(address))) {
        return callback(new TargetRefusedError(NOT_PUBLIC), '');
      }
      if (options.all === true) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };
}

/** A resolver may ignore `all` and answer with one address. */
function asLookupAddress(address: string): LookupAddress {
  return { address, family: isIP(address) };
}

function noAddressError(): NodeJS.ErrnoException {
  return Object.assign(new Error('the name has no address'), { code: 'ENODATA' });
}
