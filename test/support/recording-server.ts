import { once, setMaxListeners } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';

export interface RecordedRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** The body as it came over the wire. */
  readonly body: Buffer;
}

export interface RecordedAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Wait that long before the answer. */
  readonly delayMs?: number;
}

/** `hang` never answers, `reset` destroys the connection; `index` counts requests from 0 in order of arrival. */
export type AnswerRequest = (
  request: RecordedRequest,
  index: number,
) => RecordedAnswer | 'hang' | 'reset' | Promise<RecordedAnswer | 'hang' | 'reset'>;

export interface RecordingServer {
  /** `http://127.0.0.1:<port>`, without a slash at the end. */
  readonly url: string;
  /** In the order of arrival; a request is listed when its body is complete. */
  readonly requests: readonly RecordedRequest[];
  /** Answers differently from now on. */
  answerWith(answer: AnswerRequest): void;
  /** Stops listening and destroys open connections, those that hang included. */
  close(): Promise<void>;
}

/**
 * A real HTTP server on 127.0.0.1 which remembers every request.
 *
 * @param port to come back where another one was; default a free one.
 */
export async function startRecordingServer(
  answer: AnswerRequest = () => ({ status: 204 }),
  port = 0,
): Promise<RecordingServer> {
  const requests: RecordedRequest[] = [];
  const closing = new AbortController();
  // One listener for each answer that is being delayed.
  setMaxListeners(0, closing.signal);
  let current = answer;

  const server = createServer((incoming, response) => {
    // A client that goes away midway is the client's business: there is nobody left to answer.
    record(incoming, response).catch(() => response.destroy());
  });

  async function record(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request: RecordedRequest = {
      method: incoming.method ?? '',
      url: incoming.url ?? '',
      headers: incoming.headers,
      body: await buffer(incoming),
    };
    const index = requests.push(request) - 1;
    const told = await current(request, index);
    if (told === 'hang') return;
    if (told === 'reset') {
      incoming.socket.resetAndDestroy();
      return;
    }
    if (told.delayMs !== undefined) await wait(told.delayMs, undefined, { signal: closing.signal });
    response.writeHead(told.status, { ...told.headers }).end(told.body);
  }

  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo; // the address of a TCP server that listens is no text and not null

  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    answerWith(next) {
      current = next;
    },
    async close() {
      closing.abort();
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
