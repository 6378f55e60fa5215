import { Controller, Post } from '@nestjs/common';
import { Inbox, InboxEnvelope, InboxEvent, type ReceivedEvent } from 'nestjs-transactional-outbox';
import { HttpTransport } from 'nestjs-transactional-outbox/http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type InboxApp, OrderPlaced, SECRET, startInboxApp } from '../integration/inbox-app.js';
import { OrderNoted, type OutboxApp, startOutboxApp } from '../support/outbox-app.js';

const ONE = '00000000-0000-7000-8000-000000000001';
const received: ReceivedEvent[] = [];

@Controller()
class Receiving {
  @Post('events')
  @Inbox('receiving')
  async receive(@InboxEvent(OrderPlaced) _event: OrderPlaced, @InboxEnvelope() envelope: ReceivedEvent): Promise<void> {
    received.push(envelope);
  }
}

describe('the headers of an event, from emit to the handler of another application', () => {
  let inbox: InboxApp;
  let app: OutboxApp;
  beforeAll(async () => {
    inbox = await startInboxApp({ controllers: [Receiving] });
    app = await startOutboxApp({
      outbox: {
        destinations: { shipping: { transport: new HttpTransport({ url: `${inbox.url}/events`, secret: SECRET }) } },
        routes: [{ events: [OrderPlaced, OrderNoted], to: ['shipping'] }],
      },
    });
  });
  afterAll(async () => {
    await app.close();
    await inbox.close();
  });
  beforeEach(() => {
    received.length = 0;
  });

  it.each<readonly [string, Record<string, string>]>([
    ['text of every kind', { text: 'é😀 日本語 "quoted" \\ % , ; = \r\n\t\u2028\u0001 end ', empty: '', ' ': ' ' }],
    ['names of every kind', { 'Größe 😀': '1', 'a:b\r\nc': '2', '': '3', A: 'upper', a: 'lower' }],
    [
      'the names of CloudEvents attributes',
      { id: '1', source: '2', type: '3', data: '4', outboxheaders: '5', time: '6' },
    ],
    ['names that objects inherit', { ['__proto__']: '1', constructor: '2', toString: '3', toJSON: '4' }],
    [
      'trace context',
      { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'a=1,b=é' },
    ],
    ['empty trace context', { traceparent: '', tracestate: '' }],
    ['the spelled-out escape of NUL', { text: String.raw`\u0000` }],
    ['close to 16 KiB', { text: '😀'.repeat(4_090) }],
  ])('%s arrive unchanged', async (_what, headers) => {
    const event = Object.assign(new OrderPlaced(), { orderId: ONE, amountCents: 1 });
    await app.outbox.transaction(() => app.outbox.emit(event, { headers }));
    expect(await app.dispatcher.drain()).toMatchObject({ claimed: 1, delivered: 1 });
    expect(received.map((envelope) => Object.entries(envelope.headers).toSorted())).toEqual([
      Object.entries(headers).toSorted(),
    ]);
  });

  it('no headers arrive as none', async () => {
    const event = Object.assign(new OrderPlaced(), { orderId: ONE, amountCents: 1 });
    await app.outbox.transaction(() => app.outbox.emit(event));
    await app.dispatcher.drain();
    expect(received.map(({ headers }) => headers)).toEqual([{}]);
  });
});
