import { HttpTransport, type HttpTransportOptions } from 'nestjs-transactional-outbox/http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigurationError, describeError } from '../../libs/outbox/src/errors/index.js';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.js';
import { publishOne } from './transport-events.js';

const SECRET = 'hunter2hunter2hunter2hunter2';

describe('HttpTransport options', () => {
  it.each<[string, Partial<HttpTransportOptions>]>([
    ['timeoutMs', { timeoutMs: 0 }],
    ['timeoutMs', { timeoutMs: 1.5 }],
    ['timeoutMs', { timeoutMs: Number.POSITIVE_INFINITY }],
    ['timeoutMs', { timeoutMs: 2 ** 31 }],
    ['maxResponseBytes', { maxResponseBytes: -1 }],
    ['maxRetryAfterMs', { maxRetryAfterMs: Number.NaN }],
    ['connections', { connections: 0 }],
    ['unreachableDelayMs', { url: () => 'http://a.example', unreachableDelayMs: 0 }],
    ['source', { source: '' }],
    ['source', { source: 'not a reference' }],
  ])('%s out of its bounds is refused at start, by name', (name, options) => {
    const create = (): HttpTransport => new HttpTransport({ url: 'http://a.example', ...options });
    expect(create).toThrow(ConfigurationError);
    expect(create).toThrow(`"${name}"`);
  });

  it.each(['content-type', 'Content-Length', 'HOST', 'webhook-id', 'Webhook-Signature', 'webhook-timestamp', 'expect'])(
    'the header %s, which the transport sets itself, is refused at start',
    (name) => {
      const create = (): HttpTransport => new HttpTransport({ url: 'http://a.example', headers: { [name]: SECRET } });
      expect(create).toThrow(ConfigurationError);
      expect(create).not.toThrow(SECRET);
    },
  );

  it.each<[string, Record<string, string>]>([
    ['a line end in a value', { authorization: `${SECRET}\r\nx: y` }],
    ['a name that is no token', { 'a b': SECRET }],
    ['two spellings of one name', { 'X-Key': SECRET, 'x-key': SECRET }],
  ])('headers with %s are refused at start, without the value', (_, headers) => {
    const create = (): HttpTransport => new HttpTransport({ url: 'http://a.example', headers });
    expect(create).toThrow(ConfigurationError);
    expect(create).not.toThrow(SECRET);
  });

  it.each([`http://user:${SECRET}@a.example/`, `ftp://a.example/${SECRET}`, `//${SECRET}`])(
    'a fixed url that cannot be used is refused at start, without being shown',
    (url) => {
      const create = (): HttpTransport => new HttpTransport({ url });
      expect(create).toThrow(ConfigurationError);
      expect(create).not.toThrow(SECRET);
    },
  );

  it('a function from the options that throws makes publish reject, as the port says', async () => {
    const url = (): string => {
      throw new TypeError('no such tenant');
    };
    await expect(publishOne(new HttpTransport({ url }))).rejects.toThrow('no such tenant');
  });
});

describe('What must stay secret does not enter an outcome', () => {
  let server: RecordingServer;
  let transport: HttpTransport;

  beforeEach(async () => {
    server = await startRecordingServer();
    transport = new HttpTransport({
      url: () => `${server.url}/hooks/${SECRET}?token=${SECRET}#${SECRET}`,
      ssrfGuard: { allow: ['127.0.0.1'] },
      secret: `whsec_${SECRET}hunter2x`,
      headers: { authorization: `Bearer ${SECRET}` },
      timeoutMs: 300,
    });
  });

  afterEach(async () => {
    await transport.close();
    await server.close();
  });

  it.each([200, 302, 400, 401, 404, 429, 500, 503])('when a %i echoes it in body and headers', async (status) => {
    server.answerWith(({ headers, url }) => ({
      status,
      headers: {
        location: url,
        'retry-after': '5',
        'x-echo': String(headers.authorization),
        'www-authenticate': SECRET,
      },
      body: JSON.stringify({ headers, url }),
    }));
    const outcome = await publishOne(transport);
    expect(server.requests[0]?.url).toContain(SECRET);
    expect(JSON.stringify(outcome)).not.toContain('hunter2');
  });

  it.each(['hang', 'reset'] as const)('when the receiver answers with a %s', async (answer) => {
    server.answerWith(() => answer);
    expect(JSON.stringify(await publishOne(transport))).not.toContain('hunter2');
  });

  it('when the receiver cannot be reached', async () => {
    await server.close();
    const outcome = await publishOne(transport);
    expect(outcome).toMatchObject({ kind: 'defer' });
    expect(JSON.stringify(outcome)).not.toContain('hunter2');
  });

  it('and not the thrown errors of the constructor', () => {
    try {
      new HttpTransport({ url: server.url, secret: SECRET, headers: { host: SECRET } });
    } catch (error) {
      expect(describeError(error)).not.toContain('hunter2');
      return;
    }
    throw new Error('the options must have been refused');
  });
});
