import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { HttpTransport, type HttpTransportOptions } from 'nestjs-transactional-outbox/http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../libs/outbox/src/errors/index.js';
import { AddressPolicy } from '../../libs/outbox/src/transports/http/address-policy.js';
import { publishOne } from './transport-events.js';

describe('HttpTransport with the SSRF guard', () => {
  let server: Server;
  let port: number;
  let connections: number;
  let requests: number;
  let redirectTo: { status: number; location: string } | undefined;
  let transports: HttpTransport[];

  beforeEach(async () => {
    connections = 0;
    requests = 0;
    redirectTo = undefined;
    transports = [];
    server = createServer((_, response) => {
      requests += 1;
      if (redirectTo) response.writeHead(redirectTo.status, { location: redirectTo.location });
      response.end();
    });
    server.on('connection', () => {
      connections += 1;
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port; // the address of a TCP server that listens
  });

  afterEach(async () => {
    await Promise.all(transports.map((transport) => transport.close()));
    server.close();
    server.closeAllConnections();
  });

  /** The URL comes from a function, as a tenant's would, so that the guard is on by default. */
  function createTransport(url: string, options: Partial<HttpTransportOptions> = {}): HttpTransport {
    const transport = new HttpTransport({ url: () => url, timeoutMs: 5000, ...options });
    transports.push(transport);
    return transport;
  }

  /** Answers with the next list each time it is asked, and with the last one from then on. */
  function resolver(...answers: string[][]): { lookup: LookupFunction; asked: string[] } {
    const asked: string[] = [];
    const lookup: LookupFunction = (hostname, _, callback) => {
      const addresses = answers[Math.min(asked.push(hostname), answers.length) - 1] ?? [];
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    };
    return { lookup, asked };
  }

  it.each([
    'http://169.254.169.254/',
    'http://127.0.0.1:PORT/',
    'http://2130706433:PORT/',
    'http://0x7f.1:PORT/',
    'http://0177.0.0.1:PORT/',
    'http://127.1:PORT/',
    'http://127.0.0.1.:PORT/',
    'http://１２７.0.0.1:PORT/',
    'http://0.0.0.0:PORT/',
    'http://[::1]:PORT/',
    'http://[::]:PORT/',
    'http://[::ffff:10.0.0.1]/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[fd00:ec2::254]/',
    'http://10.0.0.5/',
    'http://user:pw@example.com/',
    'https://user@example.com/',
    'file:///etc/passwd',
    'ftp://example.com/',
    'data:text/plain,hello',
    '/events',
    '',
    'http://',
  ])('%s is dead before a connection is opened', async (url) => {
    const transport = createTransport(url.replace('PORT', String(port)));
    expect(await publishOne(transport)).toMatchObject({
      kind: 'dead',
      error: expect.stringContaining('the URL is refused'),
    });
    expect(connections).toBe(0);
  });

  it.each([
    [['10.0.0.5']],
    [['127.0.0.1']],
    [['::1']],
    [['::ffff:127.0.0.1']],
    [['fe80::1%eth0']],
    [['no address']],
    [['93.184.215.14', '127.0.0.1']],
    [['127.0.0.1', '93.184.215.14']],
    [['2606:2800:21f:cb07::1', '10.0.0.5']],
  ])('a name that resolves to %j is dead before a connection is opened', async (addresses) => {
    const { lookup } = resolver(addresses);
    const transport = createTransport(`http://shop.example:${port}/`, { lookup });
    expect(await publishOne(transport)).toMatchObject({ kind: 'dead', error: expect.stringContaining('not public') });
    expect(connections).toBe(0);
  });

  it.each(['http:', 'https:'])('localhost by the system resolver is dead over %s', async (scheme) => {
    expect(await publishOne(createTransport(`${scheme}//localhost:${port}/`))).toMatchObject({ kind: 'dead' });
    expect(connections).toBe(0);
  });

  it('a resolver that answers with one address instead of a list is checked too', async () => {
    const lookup: LookupFunction = (_, __, callback) => callback(null, '127.0.0.1', 4);
    expect(await publishOne(createTransport(`http://shop.example:${port}/`, { lookup }))).toMatchObject({
      kind: 'dead',
    });
    const allowed = createTransport(`http://shop.example:${port}/`, { lookup, ssrfGuard: { allow: ['127.0.0.1'] } });
    expect(await publishOne(allowed)).toEqual({ kind: 'delivered' });
    expect(connections).toBe(1);
  });

  it('the address that was checked is the one connected to: a second answer never comes into it', async () => {
    const { lookup, asked } = resolver(['127.0.0.1'], ['10.0.0.5']);
    const transport = createTransport(`http://shop.example:${port}/`, { lookup, ssrfGuard: { allow: ['127.0.0.1'] } });

    expect(await publishOne(transport)).toEqual({ kind: 'delivered' });
    expect(asked).toEqual(['shop.example']);

    server.closeIdleConnections();
    expect(await publishOne(transport)).toMatchObject({ kind: 'dead' });
    expect(asked).toHaveLength(2);
    expect(requests).toBe(1);
  });

  it.each([301, 302, 307, 308])('a %i to an internal address is not followed', async (status) => {
    redirectTo = { status, location: `http://127.0.0.1:${port}/internal?token=secret` };
    const transport = createTransport(`http://127.0.0.1:${port}/`, { ssrfGuard: { allow: ['127.0.0.1'] } });
    const outcome = await publishOne(transport);
    expect(outcome).toMatchObject({ kind: 'dead', error: expect.stringContaining('redirects are not followed') });
    expect(JSON.stringify(outcome)).not.toContain('secret');
    expect(requests).toBe(1);
  });

  describe('the allow list', () => {
    it.each(['shop.internal', 'SHOP.internal', '127.0.0.1', '127.0.0.0/8'])(
      '%s makes an internal receiver possible',
      async (entry) => {
        const { lookup } = resolver(['127.0.0.1']);
        const options = { lookup, ssrfGuard: { allow: [entry] } };
        expect(await publishOne(createTransport(`http://shop.internal:${port}/`, options))).toEqual({
          kind: 'delivered',
        });
      },
    );

    it('does not extend to other names and addresses', async () => {
      const { lookup } = resolver(['127.0.0.1']);
      const options = { lookup, ssrfGuard: { allow: ['shop.internal', '10.0.0.0/8', '::1'] } };
      for (const host of ['other.internal', 'sub.shop.internal', '127.0.0.1', '[::ffff:127.0.0.1]']) {
        expect(await publishOne(createTransport(`http://${host}:${port}/`, options))).toMatchObject({ kind: 'dead' });
      }
      expect(connections).toBe(0);
    });

    it('takes effect for an IPv4 address in IPv6 clothes', async () => {
      const policy = new AddressPolicy(['10.0.0.0/8', 'fd00::/8']);
      for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '64:ff9b::10.1.2.3', 'fd00::1']) {
        expect([address, policy.allowsAddress(address)]).toEqual([address, true]);
      }
      expect(policy.allowsAddress('::ffff:192.168.0.1')).toBe(false);
    });

    it.each(['*.internal', '10/8', '10.0.0.0/33', 'http://shop.internal', 'shop.internal:80', '', 'a b', '0x7f.1'])(
      'with the entry "%s" is refused at start',
      (entry) => {
        expect(() => createTransport('http://shop.example', { ssrfGuard: { allow: [entry] } })).toThrow(
          ConfigurationError,
        );
      },
    );
  });

  it.each([
    '0.1.2.3',
    '10.0.0.1',
    '100.64.0.1',
    '127.255.255.255',
    '168.63.129.16',
    '169.254.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::8.8.8.8',
    '::ffff:0:8.8.8.8',
    '::ffff:169.254.169.254',
    '64:ff9b::a00:1',
    '64:ff9b:1::808:808',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002:a00:1::',
    '3fff::1',
    '4000::1',
    'fc00::1',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    'localhost',
    '',
  ])('the address "%s" is not public', (address) => {
    expect(new AddressPolicy([]).allowsAddress(address)).toBe(false);
  });

  it.each([
    '8.8.8.8',
    '93.184.215.14',
    '172.32.0.1',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    '2002:808:808::1',
  ])('the address %s is public', (address) => {
    expect(new AddressPolicy([]).allowsAddress(address)).toBe(true);
  });

  describe('by default', () => {
    it('is off for a fixed url, which the operator chose', async () => {
      const transport = createTransport('', { url: `http://127.0.0.1:${port}/` });
      expect(await publishOne(transport)).toEqual({ kind: 'delivered' });
    });

    it('can be switched on for a fixed url, and then an internal address is refused at start', () => {
      expect(() => createTransport('', { url: `http://127.0.0.1:${port}/`, ssrfGuard: true })).toThrow(
        ConfigurationError,
      );
    });

    it('can be switched off for a url function', async () => {
      const transport = createTransport(`http://127.0.0.1:${port}/`, { ssrfGuard: false });
      expect(await publishOne(transport)).toEqual({ kind: 'delivered' });
    });

    it('credentials and other schemes are refused even with the guard off', async () => {
      for (const url of ['file:///etc/passwd', 'http://user:hunter2@127.0.0.1/']) {
        const outcome = await publishOne(createTransport(url, { ssrfGuard: false }));
        expect(outcome).toMatchObject({ kind: 'dead' });
        expect(JSON.stringify(outcome)).not.toContain('hunter2');
      }
    });
  });
});
