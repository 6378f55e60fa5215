import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { HttpTransport, type HttpTransportOptions } from 'nestjs-transactional-outbox/http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { outgoingEvent, publishOne } from './transport-events.js';

/** Long enough for a busy machine, short enough to tell "at the deadline" from "never". */
const TIMEOUT_MS = 400;

describe('HttpTransport against a receiver that never finishes, trickles or floods', () => {
  let server: Server;
  let url: string;
  let sockets: Socket[];
  let transports: HttpTransport[];
  let respond: RequestListener;

  beforeEach(async () => {
    sockets = [];
    transports = [];
    server = createServer((request, response) => {
      request.resume();
      respond(request, response);
    });
    server.on('connection', (socket) => sockets.push(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // the address of a TCP server that listens
  });

  afterEach(async () => {
    await Promise.all(transports.map((transport) => transport.close()));
    server.close();
    server.closeAllConnections();
  });

  function createTransport(options: Partial<HttpTransportOptions> = {}): HttpTransport {
    const transport = new HttpTransport({ url, timeoutMs: TIMEOUT_MS, ...options });
    transports.push(transport);
    return transport;
  }

  const expectSocketsClosed = (): Promise<void> =>
    eventually(() => expect(sockets.map(({ destroyed }) => destroyed)).toEqual(sockets.map(() => true)));

  const trickle =
    (status: number): RequestListener =>
    (_, response) => {
      response.writeHead(status);
      const timer = setInterval(() => response.write('x'), TIMEOUT_MS / 8);
      response.on('close', () => clearInterval(timer));
    };

  const neverEnding: Record<string, RequestListener> = {
    'never answers': () => undefined,
    'sends headers and then stalls': (_, response) => response.writeHead(200).flushHeaders(),
    'stalls in the middle of a declared body': (_, response) =>
      response.writeHead(200, { 'content-length': 9 }).write('x'),
    'sends one byte at a time': trickle(200),
    'sends its headers one byte at a time': ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('x'), TIMEOUT_MS / 8);
      socket.on('close', () => clearInterval(timer));
    },
    'sends interim responses for ever': (_, response) => {
      const timer = setInterval(() => response.writeProcessing(), TIMEOUT_MS / 8);
      response.on('close', () => clearInterval(timer));
    },
  };

  it.each(Object.entries(neverEnding))(
    'a receiver that %s costs one retry at the deadline and its connection',
    async (_, listener) => {
      respond = listener;
      const startedAt = performance.now();
      const outcome = await publishOne(createTransport());
      const elapsedMs = performance.now() - startedAt;

      expect(outcome).toMatchObject({ kind: 'retry', error: expect.stringContaining('the time was over') });
      expect(elapsedMs).toBeGreaterThanOrEqual(TIMEOUT_MS - 5);
      expect(elapsedMs).toBeLessThan(TIMEOUT_MS * 3);
      await expectSocketsClosed();
    },
  );

  it('a TLS handshake that never ends means unreachable at the deadline', async () => {
    const mute = createTcpServer((socket) => sockets.push(socket.resume())).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const { port } = mute.address() as AddressInfo; // the address of a TCP server that listens
    expect(await publishOne(createTransport({ url: `https://127.0.0.1:${port}` }))).toMatchObject({
      kind: 'unreachable',
      error: expect.stringContaining('the time was over'),
    });
    await expectSocketsClosed();
    mute.close();
  });

  it('an endless body is read up to maxResponseBytes, then the connection is destroyed', async () => {
    const chunk = Buffer.alloc(64 * 1024, 'secret');
    let writtenBytes = 0;
    respond = (_, response) => {
      const pour = (): void => {
        while (!response.destroyed && response.write(chunk)) writtenBytes += chunk.length;
      };
      response.writeHead(200).on('drain', pour);
      pour();
    };
    const before = process.memoryUsage();
    const outcome = await publishOne(createTransport({ timeoutMs: 20_000 }));
    await expectSocketsClosed();
    const after = process.memoryUsage();

    expect(outcome).toEqual({
      kind: 'retry',
      error: `${url} answered 200, but not to its end: the body is longer than maxResponseBytes.`,
    });
    // What the server got rid of is what the kernel buffers of both sides hold, not what was read for 20 seconds.
    expect(writtenBytes).toBeLessThan(16 * 1024 * 1024);
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(4 * 1024 * 1024);
  });

  it('a complete body of exactly maxResponseBytes is delivered, one byte more is not', async () => {
    respond = (_, response) => response.end('12345');
    expect(await publishOne(createTransport({ maxResponseBytes: 5 }))).toEqual({ kind: 'delivered' });
    expect(await publishOne(createTransport({ maxResponseBytes: 4 }))).toMatchObject({ kind: 'retry' });
    respond = (_, response) => response.end();
    expect(await publishOne(createTransport({ maxResponseBytes: 0 }))).toEqual({ kind: 'delivered' });
  });

  it('a reset in the middle of a 200 body is retried', async () => {
    respond = ({ socket }, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half', () => socket.resetAndDestroy());
    };
    expect(await publishOne(createTransport())).toMatchObject({
      kind: 'retry',
      error: expect.stringContaining('answered 200, but not to its end'),
    });
  });

  it('a body shorter than declared is retried', async () => {
    respond = ({ socket }, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half', () => socket.end());
    };
    expect(await publishOne(createTransport())).toMatchObject({ kind: 'retry' });
  });

  it('an answer that is no HTTP is retried and not quoted', async () => {
    respond = ({ socket }) => socket.end('SSH-2.0-secret\r\n');
    const outcome = await publishOne(createTransport());
    expect(outcome).toMatchObject({ kind: 'retry' });
    expect(JSON.stringify(outcome)).not.toContain('secret');
  });

  it('a refusal counts once its status is there, even if its body never ends', async () => {
    respond = trickle(410);
    expect(await publishOne(createTransport())).toMatchObject({ kind: 'dead' });
    respond = trickle(500);
    expect(await publishOne(createTransport())).toMatchObject({ kind: 'retry', error: `${url} answered 500.` });
  });

  it('classify cannot turn an incomplete answer into a delivery', async () => {
    respond = trickle(409);
    const transport = createTransport({ classify: () => ({ kind: 'delivered' }) });
    expect(await publishOne(transport)).toMatchObject({ kind: 'retry' });
  });

  it('fifty healthy events are not delayed by one that hangs', async () => {
    respond = ({ headers }, response) => {
      if (headers['webhook-id'] !== hanging.envelope.id) response.end();
    };
    const hanging = outgoingEvent();
    const transport = createTransport({ timeoutMs: 20_000 });
    const caller = new AbortController();
    const hung = publishOne(transport, hanging, caller.signal);

    const healthy = await Promise.all(Array.from({ length: 50 }, () => publishOne(transport)));

    expect(new Set(healthy.map(({ kind }) => kind))).toEqual(new Set(['delivered']));
    expect(await Promise.race([hung, 'still hanging'])).toBe('still hanging');
    caller.abort();
    expect(await hung).toMatchObject({ kind: 'retry' });
  });

  describe('the signal of the call', () => {
    it('ends an exchange that was sent with retry, and closes its connection', async () => {
      let hasArrived = false;
      respond = () => {
        hasArrived = true;
      };
      const caller = new AbortController();
      const outcome = publishOne(createTransport({ timeoutMs: 20_000 }), outgoingEvent(), caller.signal);
      await eventually(() => expect(hasArrived).toBe(true));
      caller.abort();
      expect(await outcome).toMatchObject({ kind: 'retry', error: expect.stringContaining('called off') });
      await expectSocketsClosed();
    });

    it('holds an event that was not sent yet, and it is not sent later', async () => {
      const ids: unknown[] = [];
      const waiting: (() => void)[] = [];
      respond = ({ headers }, response) => {
        ids.push(headers['webhook-id']);
        waiting.push(() => response.end());
      };
      const transport = createTransport({ timeoutMs: 20_000, connections: 1 });
      const first = outgoingEvent();
      const third = outgoingEvent();
      const firstOutcome = publishOne(transport, first);
      const caller = new AbortController();
      const secondOutcome = publishOne(transport, outgoingEvent(), caller.signal);
      await eventually(() => expect(waiting).toHaveLength(1));

      caller.abort();
      expect(await secondOutcome).toEqual({ kind: 'held' });

      waiting.shift()?.();
      expect(await firstOutcome).toEqual({ kind: 'delivered' });
      const thirdOutcome = publishOne(transport, third);
      await eventually(() => expect(waiting).toHaveLength(1));
      waiting.shift()?.();
      expect(await thirdOutcome).toEqual({ kind: 'delivered' });
      expect(ids).toEqual([first.envelope.id, third.envelope.id]);
    });

    it('opens no connection when it was aborted before', async () => {
      expect(await publishOne(createTransport(), outgoingEvent(), AbortSignal.abort())).toEqual({ kind: 'held' });
      expect(sockets).toHaveLength(0);
    });

    it('that is a timeout means unreachable when nothing was sent, so that nothing spins', async () => {
      const transport = createTransport({ url: 'http://silent.invalid', timeoutMs: 20_000, lookup: () => undefined });
      expect(await publishOne(transport, outgoingEvent(), AbortSignal.timeout(50))).toMatchObject({
        kind: 'unreachable',
      });
    });
  });

  describe('close', () => {
    it('ends what hangs at once and closes every connection', async () => {
      let arrived = 0;
      respond = () => {
        arrived += 1;
      };
      const transport = createTransport({ timeoutMs: 20_000 });
      const outcomes = Promise.all(Array.from({ length: 20 }, () => publishOne(transport)));
      await eventually(() => expect(arrived).toBe(20));

      await transport.close();

      expect(new Set((await outcomes).map(({ kind }) => kind))).toEqual(new Set(['retry']));
      await expectSocketsClosed();
    });

    it('ends idle connections, and afterwards nothing is sent', async () => {
      respond = (_, response) => response.end();
      const transport = createTransport();
      await publishOne(transport);
      expect(sockets[0]?.destroyed).toBe(false);
      await transport.close();
      await expectSocketsClosed();
      expect(await publishOne(transport)).toEqual({ kind: 'held' });
      expect(sockets).toHaveLength(1);
    });

    it('ends connections that are still being made', async () => {
      const mute = createTcpServer((socket) => sockets.push(socket.resume())).listen(0, '127.0.0.1');
      await once(mute, 'listening');
      const { port } = mute.address() as AddressInfo; // the address of a TCP server that listens
      const transport = createTransport({ url: `https://127.0.0.1:${port}`, timeoutMs: 20_000 });
      const outcome = publishOne(transport);
      await eventually(() => expect(sockets).toHaveLength(1));

      await transport.close();

      expect(await outcome).toEqual({ kind: 'held' });
      await expectSocketsClosed();
      mute.close();
    });
  });

  it('events that follow each other share connections', async () => {
    respond = (_, response) => response.end('ok');
    const transport = createTransport();
    for (let count = 0; count < 20; count += 1) await publishOne(transport);
    // Two, because a connection is ready again one turn of the event loop after its response.
    expect(sockets.length).toBeLessThanOrEqual(2);
  });

  it('a transport that has published nothing keeps no resource open', () => {
    const before = process.getActiveResourcesInfo();
    createTransport();
    expect(process.getActiveResourcesInfo()).toEqual(before);
  });
});
