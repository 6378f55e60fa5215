import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** IANA has given out nothing else as global unicast; this also shuts out forms such as `::127.0.0.1`. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** The well-known NAT64 prefix (RFC 6052): the last four bytes are where the packet really goes. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
/** Azure's platform endpoint hands out machine secrets on an address that counts as public. */
const AZURE_PLATFORM = '168.63.129.16';

/** Reads what a resolver or the URL parser writes; undefined for anything else. A zone (`%eth0`) does not matter here. */
export function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return ipaddr.IPv4.parse(text);
  if (!isIPv6(text)) return undefined;
  // Through the URL parser, because ipaddr.js takes the old form `::8.8.8.8` for an IPv4-mapped address.
  const { hostname } = new URL(`http://[${text.replace(/%.*$/, '')}]/`);
  return ipaddr.IPv6.parse(hostname.slice(1, -1));
}

/** The IPv4 address that an IPv4-mapped, NAT64 or 6to4 address leads to; any other address as it is. */
export function unwrapAddress(address: Address): Address {
  if (!(address instanceof ipaddr.IPv6)) return address;
  const bytes = address.toByteArray();
  if (address.isIPv4MappedAddress() || address.match(NAT64)) return new ipaddr.IPv4(bytes.slice(12));
  if (address.range() === '6to4') return new ipaddr.IPv4(bytes.slice(2, 6));
  return address;
}

/** @param address Unwrapped. */
export function isPublicAddress(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv6 ? address.match(GLOBAL_IPV6) : address.toString() !== AZURE_PLATFORM;
}
