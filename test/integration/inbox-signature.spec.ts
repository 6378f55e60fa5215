import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { Controller, Injectable, Post } from '@nestjs/common';
import { Inbox, InboxEnvelope, type InboxModuleOptions, type ReceivedEvent } from 'nestjs-transactional-outbox';
import { HttpTransport } from 'nestjs-transactional-outbox/http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type Answer,
  cloudEventHeaders,
  type InboxApp,
  OTHER_SECRET,
  orderPlaced,
  PLATFORMS,
  type Platform,
  SECRET,
  signature,
  startInboxApp,
  structured,
} from './inbox-app.js';
import { outgoingEvent } from './transport-events.js';

@Injectable()
class Seen {
  messages: ReceivedEvent[] = [];
}

@Controller()
class Receiver {
  constructor(private readonly seen: Seen) {}

  @Post('events')
  @Inbox('any')
  onAny(@InboxEnvelope() message: ReceivedEvent): void {
    this.seen.messages.push(message);
  }
}

const message = { id: 'message-1', type: 'order.placed', data: { z: 1, a: 'é😀', n: 1.5, t: '</script>' } };

/** Written from the specification, with nothing of the package that verifies. */
function hmac(id: string, timestamp: string, body: string | Buffer, secret = SECRET): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}

const start = (platform: Platform, inbox: Partial<InboxModuleOptions> = {}, rawBody = true): Promise<InboxApp> =>
  startInboxApp({ platform, rawBody, controllers: [Receiver], providers: [Seen], inbox });

describe.each(PLATFORMS)('A signature, on %s', (platform) => {
  let app: InboxApp;
  let seen: Seen;

  beforeAll(async () => {
    app = await start(platform, { secret: [SECRET, OTHER_SECRET] });
    seen = app.app.get(Seen);
  });

  beforeEach(async () => {
    seen.messages = [];
    await app.reset();
  });

  afterAll(() => app.close());

  const now = (): string => String(Math.floor(Date.now() / 1000));

  function post(body: string | Buffer, headers: Record<string, string>): Promise<Answer> {
    return app.post('/events', body, { ...cloudEventHeaders(message), ...headers });
  }

  async function expectRefused(answer: Answer, reason: string): Promise<void> {
    expect([answer.status, answer.json?.code]).toEqual([401, 'INBOX_REFUSED']);
    expect(answer.json?.message).toContain(reason);
    expect(seen.messages).toEqual([]);
    expect((await app.counts()).records).toBe(0);
  }

  it('covers the exact bytes: an independent HMAC over them is accepted, however they are spaced', async () => {
    for (const [index, body] of [
      structured(message),
      JSON.stringify(JSON.parse(structured(message)), null, 3),
    ].entries()) {
      const answer = await post(body, {
        'webhook-timestamp': now(),
        'webhook-signature': hmac('message-1', now(), body),
      });
      expect(answer.status).toBe(index === 0 ? 201 : 200);
    }
    expect(seen.messages[0]?.payload).toEqual(message.data);
  });

  it('is refused over the same content written otherwise', async () => {
    const signed = structured(message);
    const sent = JSON.stringify(JSON.parse(signed), null, 1);
    await expectRefused(await post(sent, signature('message-1', signed)), 'no signature matches');
  });

  it('is refused when the body was tampered with', async () => {
    const body = structured(message);
    await expectRefused(await post(body.replace('1.5', '2.5'), signature('message-1', body)), 'no signature matches');
  });

  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])(
    'is refused without the header %s',
    async (name) => {
      const body = structured(message);
      const { [name]: _, ...headers } = { ...cloudEventHeaders(message), ...signature('message-1', body) };
      await expectRefused(await app.post('/events', body, headers), 'has the headers');
    },
  );

  it.each(['', 'v1', 'v1,', 'v1,AAAA', `v1,${'A'.repeat(10_000)}`, 'v1a,AAAA', 'nonsense', 'v2,x v1,é'.normalize()])(
    'is refused, and nothing breaks, when it is %j',
    async (given) => {
      const headers = { 'webhook-timestamp': now(), 'webhook-signature': Buffer.from(given).toString('latin1') };
      await expectRefused(
        await post(structured(message), headers),
        given === '' ? 'has the headers' : 'no signature matches',
      );
    },
  );

  it('is refused with another secret, and accepted with either of two while they are exchanged', async () => {
    const body = structured(message);
    const unknown = 'whsec_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';
    await expectRefused(await post(body, signature('message-1', body, unknown)), 'no signature matches');

    expect((await post(body, signature('message-1', body, OTHER_SECRET))).status).toBe(201);
    const both = [unknown, SECRET].map((secret) => signature('message-1', body, secret)['webhook-signature']).join(' ');
    const answer = await post(body, { ...signature('message-1', body), 'webhook-signature': both });
    expect(answer.status).toBe(200);
  });

  it.each([
    [-299, 201],
    [299, 201],
    [-302, 401],
    [302, 401],
  ])('whose timestamp is %i seconds off is answered %i', async (seconds, status) => {
    const body = structured(message);
    const at = new Date(Date.now() + seconds * 1000);
    expect((await post(body, signature('message-1', body, SECRET, at))).status).toBe(status);
  });

  it.each(['', 'soon', '12e3', '-5', '1764417600.5'])('is refused when its timestamp is %j', async (timestamp) => {
    const body = structured(message);
    const headers = { 'webhook-timestamp': timestamp, 'webhook-signature': hmac('message-1', timestamp, body) };
    await expectRefused(await post(body, headers), timestamp === '' ? 'has the headers' : 'Unix seconds');
  });

  it('is refused when webhook-id contains a dot, with which the signed text could be cut elsewhere', async () => {
    const body = structured({ ...message, id: 'a.1' });
    const answer = await app.post('/events', body, {
      ...cloudEventHeaders({ ...message, id: 'a.1' }),
      ...signature('a.1', body),
    });
    await expectRefused(answer, 'must not contain a dot');
  });

  it('is refused for the id of another event', async () => {
    const body = structured(message);
    const answer = await app.post('/events', body, {
      ...cloudEventHeaders({ ...message, id: 'message-2' }),
      ...signature('message-2', body),
    });
    expect(answer.status).toBe(400);
    expect(answer.json?.message).toContain('webhook-id is not the id');
    expect((await app.counts()).records).toBe(0);
  });

  it('is verified when the body comes in chunks, and with content-type application/json and a charset', async () => {
    const body = structured(message);
    const chunked = new ReadableStream({
      start(controller) {
        for (const part of [body.slice(0, 10), body.slice(10)]) controller.enqueue(new TextEncoder().encode(part));
        controller.close();
      },
    });
    const headers = { ...cloudEventHeaders(message), ...signature('message-1', body) };
    expect((await app.post('/events', chunked, headers)).status).toBe(201);

    const data = JSON.stringify(message.data);
    const answer = await app.post('/events', data, {
      'content-type': 'application/json; charset=utf-8',
      'ce-specversion': '1.0',
      'ce-id': 'message-2',
      'ce-type': 'order.placed',
      'ce-source': '/orders',
      'webhook-id': 'message-2',
      ...signature('message-2', data),
    });
    expect(answer.status).toBe(201);
  });

  it('over a compressed body is verified over what the platform unpacked, or the message is refused', async () => {
    const body = structured(message);
    const headers = { ...signature('message-1', body), 'content-encoding': 'gzip' };
    const answer = await post(gzipSync(body), headers);

    // Express unpacks by itself. Fastify does not: there the bytes are no JSON, whatever was signed.
    expect(answer.status).toBe(platform === 'express' ? 201 : 400);
    expect((await app.counts()).records).toBe(platform === 'express' ? 1 : 0);
  });

  it('that comes twice as a header is refused, not half read', async () => {
    const body = structured(message);
    const { 'webhook-signature': good = '', 'webhook-timestamp': timestamp = '' } = signature('message-1', body);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const outgoingRequest = request(`${app.url}/events`, {
        method: 'POST',
        headers: {
          ...cloudEventHeaders(message),
          'webhook-timestamp': timestamp,
          'webhook-signature': [good.slice(0, -4), 'v1,AAAA'],
        },
      });
      outgoingRequest.on('response', (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      outgoingRequest.on('error', reject);
      outgoingRequest.end(body);
    });
    expect(status).toBe(401);
  });

  it('of the HTTP transport of this library is accepted, and a duplicate is reported to it', async () => {
    const transport = new HttpTransport({ url: `${app.url}/events`, secret: SECRET, source: '/orders' });
    try {
      const event = outgoingEvent({ aggregateId: 'order-1' });
      expect(await transport.publish([event], AbortSignal.timeout(5000))).toEqual([{ kind: 'delivered' }]);
      expect(await transport.publish([event], AbortSignal.timeout(5000))).toEqual([
        { kind: 'delivered', duplicate: true },
      ]);
      expect(seen.messages).toHaveLength(1);
      expect(seen.messages[0]).toMatchObject({ id: event.envelope.id, aggregateType: 'order', aggregateId: 'order-1' });
    } finally {
      await transport.close();
    }
  });
});

describe.each(PLATFORMS)('The inbox without what a signature needs, on %s', (platform) => {
  let app: InboxApp | undefined;

  afterEach(async () => {
    await app?.close();
    app = undefined;
  });

  it('puts messages off and says how to keep the raw body, instead of trusting what was parsed', async () => {
    app = await start(platform, {}, false);

    const answer = await app.deliver(orderPlaced());

    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('5');
    expect(answer.json?.message).toContain('rawBody: true');
    expect(answer.json?.message).toContain(
      platform === 'express' ? "useBodyParser('json'" : "useBodyParser('application/cloudevents+json'",
    );
    expect((await app.counts()).records).toBe(0);
  });

  it('takes unsigned messages only when told so, and still verifies a signature that is there', async () => {
    app = await start(platform, { requireSignature: false });
    const body = structured(message);

    expect((await app.deliver(orderPlaced(), { secret: null })).status).toBe(201);
    expect((await app.deliver(orderPlaced())).status).toBe(201);
    const forged = await app.post('/events', body, {
      ...cloudEventHeaders(message),
      ...signature('message-1', body, OTHER_SECRET),
    });
    expect(forged.status).toBe(401);
  });

  it('takes every message when it has no secret and was told so', async () => {
    app = await start(platform, { secret: undefined, allowUnsigned: true });

    expect((await app.deliver(orderPlaced(), { secret: null })).status).toBe(201);
    expect((await app.deliver(orderPlaced(), { secret: OTHER_SECRET })).status).toBe(201);
  });

  it('accepts a timestamp only within the tolerance that was set', async () => {
    app = await start(platform, { signatureToleranceSeconds: 10 });
    const body = structured(message);
    const sign = (seconds: number): Record<string, string> =>
      signature('message-1', body, SECRET, new Date(Date.now() + seconds * 1000));

    expect((await app.post('/events', body, { ...cloudEventHeaders(message), ...sign(-12) })).status).toBe(401);
    expect((await app.post('/events', body, { ...cloudEventHeaders(message), ...sign(-8) })).status).toBe(201);
  });
});
