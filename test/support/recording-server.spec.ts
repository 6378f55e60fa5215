import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from './eventually.js';
import { type RecordingServer, startRecordingServer } from './recording-server.js';

describe('startRecordingServer', () => {
  let server: RecordingServer;

  beforeEach(async () => {
    server = await startRecordingServer();
  });

  afterEach(() => server.close());

  it('remembers every request as it was sent, in the order of arrival', async () => {
    const body = Buffer.from([0, 255, 10, 13]);
    await fetch(`${server.url}/first?a=1`, { method: 'PUT', headers: { 'X-Kind': 'raw' }, body });
    await fetch(`${server.url}/second`);

    expect(server.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(['PUT /first?a=1', 'GET /second']);
    expect(server.requests[0]?.headers['x-kind']).toBe('raw');
    expect(server.requests[0]?.body).toEqual(body);
  });

  it('answers as told, by request and by number', async () => {
    server.answerWith(({ url }, index) => ({
      status: 500 + index,
      headers: { 'retry-after': '7' },
      body: `saw ${url}`,
    }));
    await fetch(server.url);
    const response = await fetch(`${server.url}/again`);

    expect(response.status).toBe(501);
    expect(response.headers.get('retry-after')).toBe('7');
    expect(await response.text()).toBe('saw /again');
  });

  it('waits before an answer with a delay', async () => {
    server.answerWith(() => ({ status: 200, delayMs: 40 }));
    const startedAt = performance.now();
    await fetch(server.url);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(39);
  });

  it('resets the connection', async () => {
    server.answerWith(() => 'reset');
    const failure = await new Promise((resolve) => {
      request(server.url, () => resolve('answered'))
        .once('error', resolve)
        .end();
    });
    // A connection that is merely closed has the same code, but no failed system call.
    expect(failure).toMatchObject({ code: 'ECONNRESET', syscall: 'read' });
    expect(server.requests).toHaveLength(1);
  });

  it('never answers when told to hang, and close() ends such a connection', async () => {
    server.answerWith(() => 'hang');
    const pending = fetch(server.url).catch(() => 'connection lost');
    await eventually(() => expect(server.requests).toHaveLength(1));

    await server.close();

    expect(await pending).toBe('connection lost');
    await expect(fetch(server.url)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  });
});
