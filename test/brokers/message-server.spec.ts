import { Logger } from '@nestjs/common';
import { expect, it, vi } from 'vitest';
import { type ConsumedMessage, MessageServer, readParts } from '../../libs/outbox/src/transports/consuming/index.js';

class PlainServer extends MessageServer {
  readonly settled: string[] = [];

  listen = (): void => undefined;
  close = (): void => undefined;
  unwrap = <T>(): T => undefined as T; // there is no client

  receive(body: string): Promise<void> {
    const message: ConsumedMessage = { source: 'a test', contentType: '', headers: {}, body: Buffer.from(body) };
    return this.take(message, readParts(message, undefined, 'place'), {
      accept: async () => void this.settled.push('accepted'),
      deliverAgain: async () => void this.settled.push('again'),
    });
  }
}

it('a server tells of a message that is no event and that nobody takes, and says nothing of events for others', async () => {
  const error = vi.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  try {
    const server = new PlainServer();
    await server.receive('{"specversion":"1.0","type":"order.paid"}');
    expect(error).not.toHaveBeenCalled();
    await server.receive('no event');
    expect(error.mock.calls).toEqual([[expect.stringContaining('message dropped: it is no event')]]);
    server.addHandler('unreadable', async () => Promise.reject(new Error('not now')), true);
    await server.receive('no event');
    expect(server.settled).toEqual(['accepted', 'accepted', 'again']);
  } finally {
    error.mockRestore();
  }
});
