import { createHmac } from 'node:crypto';
import { HttpTransport, type HttpTransportOptions } from 'nestjs-transactional-outbox/http';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../libs/outbox/src/errors/index.js';
import { WebhookSigner } from '../../libs/outbox/src/transports/http/webhook-signer.js';
import { type RecordedRequest, type RecordingServer, startRecordingServer } from '../support/recording-server.js';
import { outgoingEvent, publishOne } from './transport-events.js';

const OLD_SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const NEW_SECRET = `whsec_${Buffer.alloc(64, 9).toString('base64')}`;

describe('HttpTransport with a Standard Webhooks secret', () => {
  let server: RecordingServer;

  beforeEach(async () => {
    server = await startRecordingServer();
  });

  afterEach(() => server.close());

  /** A transport of its own per event, as after a restart. */
  async function requestOf(options: Partial<HttpTransportOptions>, event = outgoingEvent()): Promise<RecordedRequest> {
    const transport = new HttpTransport({ url: server.url, ...options });
    try {
      expect(await publishOne(transport, event)).toEqual({ kind: 'delivered' });
    } finally {
      await transport.close();
    }
    const request = server.requests.at(-1);
    if (request === undefined) throw new Error('nothing arrived');
    return request;
  }

  /** Independent of the library: what the specification says, over the bytes that arrived. */
  function expectedSignature({ headers, body }: RecordedRequest, secret: string): string {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    const mac = createHmac('sha256', key)
      .update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`)
      .update(body);
    return `v1,${mac.digest('base64')}`;
  }

  it('the bytes sent are the bytes signed, on every attempt and after a restart', async () => {
    const payload = { z: 1, a: 'é😀', n: 1.0, t: '</script>', broken: '\ud800', u: '\u2028' };
    const event = outgoingEvent({ payload });

    const first = await requestOf({ secret: OLD_SECRET }, event);
    const second = await requestOf({ secret: OLD_SECRET }, { ...event, attempt: 2 });

    for (const request of [first, second]) {
      expect(request.headers['webhook-signature']).toBe(expectedSignature(request, OLD_SECRET));
      expect(request.headers['webhook-id']).toBe(event.envelope.id);
    }
    expect(second.body).toEqual(first.body);
    expect(JSON.parse(String(first.body)).data).toEqual(payload);
  });

  it('the timestamp is that of this attempt, in whole seconds', async () => {
    const earliest = Math.floor(Date.now() / 1000);
    const { headers } = await requestOf({ secret: OLD_SECRET });
    expect(headers['webhook-timestamp']).toMatch(/^\d{10}$/);
    expect(Number(headers['webhook-timestamp'])).toBeGreaterThanOrEqual(earliest);
    expect(Number(headers['webhook-timestamp'])).toBeLessThanOrEqual(Math.floor(Date.now() / 1000));
  });

  it("the specification's test vector is reproduced", () => {
    const signer = new WebhookSigner('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
    expect(signer.sign('msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330_999, '{"test": 2432232314}')).toEqual({
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('during a rotation all secrets sign, the newest first, and a receiver with either of them accepts', async () => {
    const request = await requestOf({ secret: [NEW_SECRET, OLD_SECRET] });
    expect(request.headers['webhook-signature']).toBe(
      `${expectedSignature(request, NEW_SECRET)} ${expectedSignature(request, OLD_SECRET)}`,
    );
    const headers = request.headers as Record<string, string>; // the three that the verifier reads came once each
    for (const secret of [NEW_SECRET, OLD_SECRET]) {
      expect(() => new Webhook(secret).verify(String(request.body), headers)).not.toThrow();
    }
    const stranger = new Webhook(`whsec_${Buffer.alloc(24, 1).toString('base64')}`);
    expect(() => stranger.verify(String(request.body), headers)).toThrow();
  });

  it('a tampered body no longer matches', async () => {
    const request = await requestOf({ secret: OLD_SECRET });
    const tampered = { ...request, body: Buffer.from(String(request.body).replace('4200', '4201')) };
    expect(tampered.body).not.toEqual(request.body);
    expect(request.headers['webhook-signature']).not.toBe(expectedSignature(tampered, OLD_SECRET));
  });

  it('without a secret there is an id but no signature', async () => {
    const { headers } = await requestOf({});
    expect(headers).toHaveProperty('webhook-id');
    expect(headers).not.toHaveProperty('webhook-timestamp');
    expect(headers).not.toHaveProperty('webhook-signature');
  });

  it.each([
    ['empty', ''],
    ['only the prefix', 'whsec_'],
    ['an empty list', []],
    ['undefined, as an unset environment variable is', undefined],
    ['too short', `whsec_${Buffer.alloc(23).toString('base64')}`],
    ['too long', `whsec_${Buffer.alloc(65).toString('base64')}`],
    ['no base64', `whsec_${'!'.repeat(32)}`],
    ['with a line end', `${OLD_SECRET}\n`],
    ['unpadded', `whsec_${Buffer.alloc(25, 7).toString('base64').replaceAll('=', '')}`],
    ['an asymmetric key', OLD_SECRET.replace('whsec_', 'whsk_')],
    ['good and then empty', [OLD_SECRET, '']],
  ])('a secret that is %s is refused at start, without being shown', (_, secret) => {
    const create = (): HttpTransport => new HttpTransport({ url: server.url, secret });
    expect(create).toThrow(ConfigurationError);
    expect(create).not.toThrow(/[A-Za-z0-9+/!]{30}/);
  });
});
