import { HttpTransport, type HttpTransportOptions } from 'nestjs-transactional-outbox/http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RecordedAnswer, type RecordingServer, startRecordingServer } from '../support/recording-server.js';
import { outgoingEvent, publishOne } from './transport-events.js';

describe('HttpTransport', () => {
  let server: RecordingServer;
  let transports: HttpTransport[];

  beforeEach(async () => {
    transports = [];
    server = await startRecordingServer();
  });

  afterEach(async () => {
    await Promise.all(transports.map((transport) => transport.close()));
    await server.close();
  });

  function createTransport(options: Partial<HttpTransportOptions> = {}): HttpTransport {
    const transport = new HttpTransport({ url: `${server.url}/events`, ...options });
    transports.push(transport);
    return transport;
  }

  function answer(status: number, headers: Record<string, string> = {}): void {
    server.answerWith(() => ({ status, headers }) satisfies RecordedAnswer);
  }

  describe('on the wire', () => {
    it('an event arrives as one POST of a structured CloudEvent with its id as webhook-id', async () => {
      const event = outgoingEvent({
        aggregateId: 'order-7',
        sequence: 3n,
        payload: { note: 'é😀', total: 1 },
        headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tenant: 'acme' },
      });

      expect(await publishOne(createTransport({ source: '/orders' }), event)).toEqual({ kind: 'delivered' });

      const [request] = server.requests;
      expect(server.requests).toHaveLength(1);
      expect(request).toMatchObject({ method: 'POST', url: '/events' });
      expect(request?.headers).toMatchObject({
        'content-type': 'application/cloudevents+json; charset=UTF-8',
        'content-length': String(request?.body.length),
        'webhook-id': event.envelope.id,
      });
      expect(JSON.parse(String(request?.body))).toEqual({
        specversion: '1.0',
        id: event.envelope.id,
        source: '/orders',
        type: 'order.placed',
        subject: 'order-7',
        time: '2025-03-04T05:06:07.089Z',
        datacontenttype: 'application/json',
        data: { note: 'é😀', total: 1 },
        aggregatetype: 'order',
        partitionkey: 'order-7',
        dataversion: 1,
        sequence: '0000000000000000003',
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        outboxheaders: '{"tenant":"acme"}',
      });
    });

    it('static headers travel with every request', async () => {
      await publishOne(createTransport({ headers: { Authorization: 'Bearer abc' } }));
      expect(server.requests[0]?.headers.authorization).toBe('Bearer abc');
    });

    it('a url function is asked for each event, query included', async () => {
      const transport = createTransport({
        url: ({ envelope }) => `${server.url}/${envelope.type}?of=${envelope.aggregateId}#ignored`,
        ssrfGuard: false,
      });
      await publishOne(transport, outgoingEvent({ aggregateId: 'a b' }));
      expect(server.requests[0]?.url).toBe('/order.placed?of=a%20b');
    });

    it('outcomes have the length and the order of the batch', async () => {
      const statusByType: Record<string, number> = { first: 404, second: 204, third: 500 };
      server.answerWith(({ body }) => ({ status: statusByType[JSON.parse(String(body)).type] ?? 500 }));
      const batch = ['first', 'second', 'third'].map((type) => outgoingEvent({ type }));
      const outcomes = await createTransport().publish(batch, new AbortController().signal);
      expect(outcomes.map(({ kind }) => kind)).toEqual(['dead', 'delivered', 'retry']);
    });

    it('an event that CloudEvents cannot express is dead, not retried', async () => {
      expect(await publishOne(createTransport(), outgoingEvent({ aggregateId: '' }))).toMatchObject({ kind: 'dead' });
      expect(server.requests).toHaveLength(0);
    });
  });

  describe('status classes', () => {
    it.each([200, 202, 204, 299])('%i is delivered', async (status) => {
      answer(status);
      expect(await publishOne(createTransport())).toEqual({ kind: 'delivered' });
    });

    it.each([408, 425, 429, 500, 501, 502, 503, 504, 599])('%i is retried', async (status) => {
      answer(status);
      expect(await publishOne(createTransport())).toEqual({
        kind: 'retry',
        error: `${server.url} answered ${status}.`,
      });
    });

    it.each([400, 401, 403, 404, 409, 410, 413, 422, 451])('%i is dead', async (status) => {
      answer(status);
      expect(await publishOne(createTransport())).toEqual({ kind: 'dead', error: `${server.url} answered ${status}.` });
    });

    it.each([301, 302, 303, 304, 307, 308])('%i is dead, and the redirect is not followed', async (status) => {
      answer(status, { location: `${server.url}/elsewhere` });
      expect(await publishOne(createTransport())).toEqual({
        kind: 'dead',
        error: `${server.url} answered ${status}; redirects are not followed.`,
      });
      expect(server.requests).toHaveLength(1);
    });

    it('a consumer that says "duplicate" has the event, and the outcome says so', async () => {
      answer(200, { 'inbox-outcome': 'duplicate' });
      expect(await publishOne(createTransport())).toEqual({ kind: 'delivered', duplicate: true });
    });

    it('"duplicate" on a refusal does not make it a delivery', async () => {
      answer(409, { 'inbox-outcome': 'duplicate' });
      expect(await publishOne(createTransport())).toMatchObject({ kind: 'dead' });
    });

    it.each([200, 404, 410, 429, 500, 302])('classify overrides the verdict on %i', async (status) => {
      answer(status, { 'x-kind': 'own' });
      const transport = createTransport({
        classify: (response) => ({ kind: 'retry', error: `own ${response.status} ${response.headers['x-kind']}` }),
      });
      expect(await publishOne(transport)).toEqual({ kind: 'retry', error: `own ${status} own` });
    });

    it('classify leaves a response to the default with undefined', async () => {
      answer(404);
      expect(await publishOne(createTransport({ classify: () => undefined }))).toMatchObject({ kind: 'dead' });
    });
  });

  describe('Retry-After', () => {
    it.each([408, 425, 429, 500, 502, 503, 504])('%i with seconds defers by exactly that much', async (status) => {
      answer(status, { 'retry-after': '2' });
      expect(await publishOne(createTransport())).toEqual({
        kind: 'defer',
        reason: `${server.url} answered ${status} with Retry-After.`,
        delayMs: 2000,
      });
    });

    it('an HTTP date defers until then', async () => {
      answer(503, { 'retry-after': new Date(Date.now() + 90_000).toUTCString() });
      const outcome = await publishOne(createTransport());
      expect(outcome).toMatchObject({ kind: 'defer' });
      const { delayMs } = outcome as { delayMs: number }; // asserted to be a defer
      expect(Number.isInteger(delayMs)).toBe(true);
      expect(delayMs).toBeGreaterThan(80_000);
      expect(delayMs).toBeLessThanOrEqual(90_000);
    });

    it.each(['9'.repeat(400), '99999999', new Date(Date.UTC(2400, 0)).toUTCString()])(
      'the huge value "%s" is capped',
      async (value) => {
        answer(429, { 'retry-after': value });
        expect(await publishOne(createTransport())).toMatchObject({ kind: 'defer', delayMs: 3_600_000 });
        expect(await publishOne(createTransport({ maxRetryAfterMs: 5000 }))).toMatchObject({ delayMs: 5000 });
      },
    );

    it.each([
      '-5',
      'abc',
      '1e9',
      '1.5',
      '0',
      '',
      '2, 3',
      'tomorrow',
      '2099-01-01',
      'Mon, 99 Foo 2099 99:99:99 GMT',
      'Thu, 01 Jan 1970 00:00:00 GMT',
      new Date(Date.now() - 60_000).toUTCString(),
    ])('the value "%s" falls back to the normal back-off', async (value) => {
      answer(429, { 'retry-after': value });
      expect(await publishOne(createTransport())).toMatchObject({ kind: 'retry' });
    });

    it('two Retry-After headers fall back to the normal back-off', async () => {
      const transport = createTransport({
        classify: ({ headers }) => {
          expect(headers['retry-after']).toEqual(['2', '3']);
          return undefined;
        },
      });
      server.answerWith(() => ({ status: 503, headers: { 'retry-after': ['2', '3'] as unknown as string } })); // node:http sends a list as two headers
      expect(await publishOne(transport)).toMatchObject({ kind: 'retry' });
    });

    it.each([400, 404, 410, 301])('%i stays dead whatever Retry-After says', async (status) => {
      answer(status, { 'retry-after': '2' });
      expect(await publishOne(createTransport())).toMatchObject({ kind: 'dead' });
    });
  });

  describe('network errors', () => {
    const failedLookup: (code: string) => NonNullable<HttpTransportOptions['lookup']> = (code) => (_, __, callback) =>
      callback(Object.assign(new Error(`lookup ${code}`), { code }), '');

    it('a refused connection means that the destination is unreachable', async () => {
      const transport = createTransport();
      await server.close();
      expect(await publishOne(transport)).toMatchObject({
        kind: 'unreachable',
        error: expect.stringContaining('ECONNREFUSED'),
      });
    });

    it.each(['ENOTFOUND', 'EAI_AGAIN'])(
      'the DNS failure %s means that the destination is unreachable',
      async (code) => {
        const transport = createTransport({ url: 'http://nowhere.invalid/events', lookup: failedLookup(code) });
        expect(await publishOne(transport)).toMatchObject({
          kind: 'unreachable',
          error: expect.stringContaining(`http://nowhere.invalid cannot be reached: Error [${code}]`),
        });
      },
    );

    it('a failed TLS handshake means that the destination is unreachable', async () => {
      const transport = createTransport({ url: server.url.replace('http:', 'https:') });
      expect(await publishOne(transport)).toMatchObject({ kind: 'unreachable' });
    });

    it('DNS that never answers means unreachable when the time is over', async () => {
      const transport = createTransport({ url: 'http://silent.invalid/', timeoutMs: 200, lookup: () => undefined });
      expect(await publishOne(transport)).toMatchObject({ kind: 'unreachable' });
    });

    it('a reset after the request was sent is retried, because the receiver may have the event', async () => {
      server.answerWith(() => 'reset');
      expect(await publishOne(createTransport())).toMatchObject({
        kind: 'retry',
        error: expect.stringContaining('may have received the event'),
      });
    });

    it('one unreachable receiver among many defers its own events and does not pause the destination', async () => {
      const transport = createTransport({
        url: ({ envelope }) => (envelope.type === 'down' ? 'http://down.invalid/' : server.url),
        ssrfGuard: false,
        unreachableDelayMs: 10_000,
        lookup: failedLookup('ENOTFOUND'),
      });
      const outcome = await publishOne(transport, outgoingEvent({ type: 'down' }));
      expect(outcome).toMatchObject({ kind: 'defer', reason: expect.stringContaining('ENOTFOUND') });
      const { delayMs } = outcome as { delayMs: number }; // asserted to be a defer
      expect(delayMs).toBeGreaterThanOrEqual(5000);
      expect(delayMs).toBeLessThanOrEqual(10_000);
      expect(await publishOne(transport)).toEqual({ kind: 'delivered' });
    });
  });

  it('delivers again after an outage, over a new connection', async () => {
    const transport = createTransport();
    server.answerWith((_, index) => (index === 1 ? 'reset' : { status: 200 }));
    const kinds: string[] = [];
    for (let attempt = 0; attempt < 3; attempt += 1) kinds.push((await publishOne(transport)).kind);
    expect(kinds).toEqual(['delivered', 'retry', 'delivered']);
  });
});
