import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { ConfigurationError } from '../../errors/index.js';
import { isPublicAddress, parseAddress, unwrapAddress } from './public-address.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/** Decides which addresses may be connected to: public unicast ones, and those that the operator allowed. */
export class AddressPolicy {
  readonly #hosts = new Set<string>();
  readonly #ranges: Range[] = [];

  /** @throws ConfigurationError when an entry is no host name, address or CIDR range. */
  constructor(allow: readonly string[]) {
    for (const entry of allow) {
      const range = parseRange(entry);
      if (range !== undefined) this.#ranges.push(range);
      else this.#hosts.add(requireHostName(entry));
    }
  }

  /** An allowed name stands for whatever it resolves to. */
  allowsHost(hostname: string): boolean {
    return this.#hosts.has(hostname);
  }

  /** False for text that is no address at all. */
  allowsAddress(text: string): boolean {
    const address = parseAddress(text);
    if (address === undefined) return false;
    const inner = unwrapAddress(address);
    return isPublicAddress(inner) || this.#ranges.some((range) => isWithin(address, range) || isWithin(inner, range));
  }
}

function isWithin(address: Address, range: Range): boolean {
  return address.kind() === range[0].kind() && address.match(range);
}

/** IPv4 in four decimal parts only: the library would read `10/8` as 0.0.0.10/8. */
function parseRange(entry: string): Range | undefined {
  const bits = { 0: undefined, 4: 32, 6: 128 }[isIP(entry)];
  const cidr = bits === undefined ? entry : `${entry}/${bits}`;
  const isRange = ipaddr.IPv4.isValidCIDRFourPartDecimal(cidr) || ipaddr.IPv6.isValidCIDR(cidr);
  return isRange ? ipaddr.parseCIDR(cidr) : undefined;
}

/** Spelled as the URL parser spells it, because that is what it will be compared with. */
function requireHostName(entry: string): string {
  const text = `http://${entry}/`;
  const hostname = URL.canParse(text) ? new URL(text).hostname : '';
  if (hostname === '' || /[*/?#@:\\\s]/.test(entry) || isIP(hostname) !== 0) {
    throw new ConfigurationError(
      `HttpTransport: ssrfGuard.allow contains ${JSON.stringify(entry)}, which is no host name, address or CIDR range. Wildcards, ports and URLs cannot be allowed.`,
    );
  }
  return hostname;
}
