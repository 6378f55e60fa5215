import { randomBytes } from 'node:crypto';
import { Controller, Injectable, Post } from '@nestjs/common';
import { Type } from 'class-transformer';
import { IsInt, IsString, ValidateBy, ValidateNested } from 'class-validator';
import { Inbox, InboxEnvelope, InboxEvent, OutboxEvent, type ReceivedEvent } from 'nestjs-transactional-outbox';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type Answer,
  cloudEventHeaders,
  type InboxApp,
  OrderPaid,
  OrderPlaced,
  orderPlaced,
  PLATFORMS,
  signature,
  startInboxApp,
  structured,
} from './inbox-app.js';

class Address {
  @IsString()
  street: string;
}

@OutboxEvent('order.addressed', { aggregate: 'order' })
class OrderAddressed {
  @IsInt({ message: 'total must be whole cents' })
  total: number;

  @ValidateNested()
  @Type(() => Address)
  address: Address;
}

@OutboxEvent('order.free-form', { aggregate: 'order' })
class FreeForm {}

/** A rule that a later version of the consumer brings. */
const rules = { isStrict: false };

@OutboxEvent('order.tightened', { aggregate: 'order' })
class Tightened {
  @ValidateBy({ name: 'later', validator: { validate: () => !rules.isStrict } })
  total: number;
}

@Injectable()
class Seen {
  events: unknown[] = [];
  messages: ReceivedEvent[] = [];
}

@Controller()
class Receiver {
  constructor(private readonly seen: Seen) {}

  @Post('events')
  @Inbox('typed')
  onOrder(@InboxEvent(OrderPlaced, OrderAddressed, FreeForm, Tightened) event: object): void {
    this.seen.events.push(event);
  }

  @Post('any')
  @Inbox('any')
  onAny(@InboxEnvelope() message: ReceivedEvent): void {
    this.seen.messages.push(message);
  }

  @Post('named')
  @Inbox('named', { events: [OrderPaid, 'legacy.order'] })
  onNamed(@InboxEnvelope() message: ReceivedEvent): void {
    this.seen.messages.push(message);
  }
}

describe.each(PLATFORMS)('What is no message for the inbox, on %s', (platform) => {
  let app: InboxApp;
  let seen: Seen;

  beforeAll(async () => {
    app = await startInboxApp({
      platform,
      controllers: [Receiver],
      providers: [Seen],
      inbox: { maxBodyBytes: 100_000 },
      prepare: (application) => {
        const bodies = application as unknown as { useBodyParser(type: string, options?: object): void };
        bodies.useBodyParser(
          ...((platform === 'fastify'
            ? ['application/cloudevents-batch+json', {}]
            : ['text', { type: 'text/plain' }]) as [string, object]),
        );
      },
    });
    seen = app.app.get(Seen);
  });

  beforeEach(async () => {
    seen.events = [];
    seen.messages = [];
    await app.reset();
  });

  afterAll(() => app.close());

  /** Signs any text, so that only its content can be at fault. */
  function sign(body: string, headers: Record<string, string> = {}, id = 'message-1'): Promise<Answer> {
    const message = { id, type: 'x', data: null };
    return app.post('/events', body, { ...cloudEventHeaders(message), ...signature(id, body), ...headers });
  }

  async function expectNothing(answer: Answer, status: number, reason: RegExp | string): Promise<void> {
    expect([answer.status, answer.json?.statusCode]).toEqual([status, status]);
    expect([answer.json?.message, answer.json?.problems].flat().join('; ')).toMatch(reason);
    expect(seen.events).toEqual([]);
    expect(seen.messages).toEqual([]);
    expect((await app.counts()).records).toBe(0);
  }

  const valid = { specversion: '1.0', id: 'message-1', source: '/orders', type: 'order.placed' };

  it.each([
    ['no id', { ...valid, id: undefined }, 'no "id"'],
    ['an empty id', { ...valid, id: '' }, 'no "id"'],
    ['a null id', { ...valid, id: null }, 'no "id"'],
    ['a number as id', { ...valid, id: 7 }, 'no "id"'],
    ['another id than webhook-id', { ...valid, id: 'message-2' }, 'webhook-id'],
    ['no source', { ...valid, source: undefined }, "must have required property 'source'"],
    ['no type', { ...valid, type: undefined }, "must have required property 'type'"],
    ['a time that is none', { ...valid, time: 'yesterday' }, 'time must match format'],
    ['an attribute name that is none', { ...valid, 'not-allowed': 'x' }, 'invalid extension name: not-allowed'],
    ['an older version', { ...valid, specversion: '0.3' }, 'specversion'],
    ['no version', { ...valid, specversion: undefined }, 'specversion'],
    ['an array', [valid], 'no JSON object'],
    ['NUL in the type', { ...valid, type: 'order\u0000placed' }, /type|rules/],
    ['a type that is too long', { ...valid, type: 'x'.repeat(256) }, '256 characters'],
  ])('is refused with 400: an event with %s', async (_, event, reason) => {
    const answer = await app.post('/any', JSON.stringify(event), {
      ...cloudEventHeaders({ id: 'message-1', type: 'x', data: null }),
      ...signature('message-1', JSON.stringify(event)),
    });
    await expectNothing(answer, 400, reason);
  });

  it('is refused with 400: an id with NUL, which PostgreSQL could not store', async () => {
    const body = JSON.stringify({ ...valid, id: 'message\u0000' });
    const { 'webhook-id': _, ...headers } = cloudEventHeaders({ id: '', type: 'x', data: null });
    const unsigned = await startInboxApp({
      platform,
      controllers: [Receiver],
      providers: [Seen],
      inbox: { secret: undefined, allowUnsigned: true },
    });
    try {
      const answer = await unsigned.post('/any', body, headers);
      expect(answer.status).toBe(400);
      expect(answer.json?.message).toMatch(/NUL/);
    } finally {
      await unsigned.close();
    }
  });

  it('is refused with 400: an id longer than 255 characters of random text; 255 are taken', async () => {
    const longest = randomBytes(255).toString('base64url').slice(0, 255);
    const tooLong = randomBytes(3000).toString('base64url').slice(0, 3000);

    await expectNothing(
      await app.deliver({ ...orderPlaced(), id: `${longest}x` }),
      400,
      'event id has 256 characters, the limit is 255',
    );
    await expectNothing(await app.deliver({ ...orderPlaced(), id: tooLong }), 400, '3000 characters');
    expect((await app.deliver({ ...orderPlaced(), id: longest })).status).toBe(201);
    expect((await app.deliver({ ...orderPlaced(), id: longest })).status).toBe(200);
  });

  it('is refused with 400: a body that is no JSON', async () => {
    const answer = await sign('{"specversion": "1.0", ');
    expect(answer.status).toBe(400);
    expect((await app.counts()).records).toBe(0);
  });

  it('is refused with 400: a body that is not UTF-8', async () => {
    const body = Buffer.from(structured({ id: 'message-1', type: 'order.placed', data: { name: 'X' } }));
    body[body.indexOf('X')] = 0xff;
    const answer = await app.post('/any', body, {
      ...cloudEventHeaders({ id: 'message-1', type: '', data: null }),
      ...signature('message-1', body.toString()),
    });
    await expectNothing(answer, 400, 'UTF-8');
  });

  it('is refused with 400: numbers beyond what JSON in JavaScript can hold', async () => {
    const body = structured({ id: 'message-1', type: 'legacy.order', data: { total: '@' } }).replace('"@"', '1e999');
    const answer = await app.post('/any', body, {
      ...cloudEventHeaders({ id: 'message-1', type: '', data: null }),
      ...signature('message-1', body),
    });
    await expectNothing(answer, 400, 'canonical JSON');
  });

  it('is refused with 400: nesting so deep that it would exhaust the stack', async () => {
    const data = `${'['.repeat(40_000)}${']'.repeat(40_000)}`;
    const body = structured({ id: 'message-1', type: 'legacy.order', data: '@' }).replace('"@"', data);
    const answer = await app.post('/any', body, {
      ...cloudEventHeaders({ id: 'message-1', type: '', data: null }),
      ...signature('message-1', body),
    });
    await expectNothing(answer, 400, 'canonical JSON');
  });

  it('is refused with 413: a body that is larger than maxBodyBytes', async () => {
    const message = { ...orderPlaced(), data: { note: 'x'.repeat(100_000) } };
    await expectNothing(await app.deliver(message), 413, 'the limit is 100000');
  });

  it('is refused with 415: a body that is not JSON by its content-type', async () => {
    const answer = await sign('hello', { 'content-type': 'text/plain' });
    await expectNothing(answer, 415, 'content-type is "text/plain"');
  });

  it('is refused with 422: a batch', async () => {
    const answer = await sign(JSON.stringify([valid]), { 'content-type': 'application/cloudevents-batch+json' });
    await expectNothing(answer, 422, 'batches');
  });

  it('is refused with 422: binary data', async () => {
    await expectNothing(await sign(JSON.stringify({ ...valid, data_base64: 'aGk=' })), 422, 'not JSON');
    await expectNothing(
      await sign(JSON.stringify({ ...valid, datacontenttype: 'application/xml', data: '<a/>' })),
      422,
      'not JSON',
    );
  });

  it('is refused with 422: a type that the handler does not take', async () => {
    const paid = { ...orderPlaced(), type: 'order.paid' };
    await expectNothing(await app.deliver(paid), 422, 'does not take events of type "order.paid"');
    await expectNothing(await app.deliver(orderPlaced(), { path: '/named' }), 422, '"order.placed"');
    expect((await app.deliver(paid, { path: '/named' })).status).toBe(201);
    expect((await app.deliver({ ...orderPlaced(), type: 'legacy.order' }, { path: '/named' })).status).toBe(201);
  });

  it('is refused with 422 and one line for each wrong field, without their values', async () => {
    const answer = await app.deliver({
      ...orderPlaced(),
      type: 'order.addressed',
      data: { total: 'secret-1', address: { street: 5 } },
    });

    await expectNothing(answer, 422, '"order.addressed" is not valid');
    expect(answer.json?.problems).toEqual(['total must be whole cents', 'address.street must be a string']);
    expect(answer.text).not.toContain('secret-1');
  });

  it.each([
    ['null', null],
    ['a list', [1]],
    ['text', 'hello'],
    ['nothing', undefined],
  ])('is refused with 422: %s where the class wants an object', async (_, data) => {
    await expectNothing(await app.deliver({ ...orderPlaced(), data }), 422, 'no JSON object');
  });

  it('is not a newer payload: what the class does not know is kept, not refused', async () => {
    const { data } = orderPlaced();
    const answer = await app.deliver({ ...orderPlaced(), data: { ...(data as object), since: 'v2' } });

    expect(answer.status).toBe(201);
    expect(seen.events[0]).toBeInstanceOf(OrderPlaced);
    expect(seen.events[0]).toMatchObject({ since: 'v2' });
  });

  it('is not an event that was processed before the rules became stricter: it is a duplicate', async () => {
    const before = { ...orderPlaced(), type: 'order.tightened', data: { total: 1 } };
    rules.isStrict = false;
    expect((await app.deliver(before)).status).toBe(201);
    rules.isStrict = true;

    expect((await app.deliver(before)).status).toBe(200);
    expect((await app.deliver({ ...before, id: 'message-2' })).status).toBe(422);
  });

  it('is not a class without rules: it takes any object', async () => {
    const answer = await app.deliver({ ...orderPlaced(), type: 'order.free-form', data: { a: 1 } });

    expect(answer.status).toBe(201);
    expect(seen.events[0]).toBeInstanceOf(FreeForm);
  });

  it('is not an event in binary mode: attributes come from percent-encoded headers', async () => {
    const body = JSON.stringify({ total: 1 });
    const answer = await app.post('/any', body, {
      'content-type': 'application/json; charset=utf-8',
      'ce-specversion': '1.0',
      'ce-id': 'message%201',
      'ce-source': '/orders',
      'ce-type': 'legacy.order',
      'ce-subject': '%E6%B3%A8%E6%96%87-1',
      'ce-dataversion': '3',
      'webhook-id': 'message 1',
      ...signature('message 1', body),
    });

    expect(answer.status).toBe(201);
    expect(seen.messages[0]).toEqual({
      id: 'message 1',
      source: '/orders',
      type: 'legacy.order',
      payload: { total: 1 },
      headers: {},
      version: 3,
      aggregateType: undefined,
      aggregateId: '注文-1',
      sequence: undefined,
      createdAt: undefined,
    });
  });

  it('is refused with 400: headers of the binary mode that are incomplete or not encoded', async () => {
    const body = '{}';
    const headers = { 'content-type': 'application/json', 'webhook-id': 'm', ...signature('m', body) };
    await expectNothing(await app.post('/any', body, headers), 400, 'neither content-type');
    await expectNothing(await app.post('/any', body, { ...headers, 'ce-specversion': '1.0' }), 400, 'no "id"');
    await expectNothing(await app.post('/any', body, { ...headers, 'ce-id': '100%' }), 400, 'percent-encoded');
  });
});
