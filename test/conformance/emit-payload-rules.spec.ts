import { randomUUID } from 'node:crypto';
import { AggregateId, OutboxEvent, UnserializablePayloadError } from 'nestjs-transactional-outbox';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type OutboxApp, startOutboxApp } from '../support/outbox-app.js';

@OutboxEvent('anything.said', { aggregate: 'anything' })
class AnythingSaid {
  @AggregateId()
  id = 'it';

  constructor(readonly data: unknown) {}
}

const NUL = String.fromCharCode(0);
const circular: Record<string, unknown> = { name: 'ring' };
circular.self = circular;
const shared = { a: 1 };

class Money {
  constructor(private readonly cents: number) {}

  toJSON(): unknown {
    return { amount: this.cents };
  }
}

const refused: readonly (readonly [string, unknown, string])[] = [
  ['NUL in a value', { a: `x${NUL}y` }, 'payload.data.a: contains the NUL character'],
  ['NUL in a key', { [`x${NUL}y`]: 1 }, 'contains the NUL character'],
  ['NUL in a nested array', { list: [['fine', `x${NUL}`]] }, 'payload.data.list[0][1]: contains the NUL character'],
  ['a lone surrogate', { a: 'x\ud800y' }, 'payload.data.a: contains a lone surrogate'],
  ['a lone surrogate in a key', { '\udc00': 1 }, 'contains a lone surrogate'],
  ['BigInt', { items: [{ total: 1n }] }, 'payload.data.items[0].total: BigInt'],
  ['a circular reference', circular, 'payload.data.self: circular reference'],
  ['a function', { run: () => 1 }, 'payload.data.run: a function'],
  ['a symbol', { sign: Symbol('s') }, 'payload.data.sign: a symbol'],
  ['undefined in an array', { list: [1, undefined] }, 'payload.data.list[1]: undefined'],
  ['a hole in an array', { list: new Array(2) }, 'payload.data.list[0]: undefined'],
  ['NaN', { price: Number.NaN }, 'payload.data.price: NaN'],
  ['infinity', { price: Number.NEGATIVE_INFINITY }, 'payload.data.price: -Infinity'],
  ['a Map', { index: new Map([[1, 2]]) }, 'payload.data.index: Map'],
  ['a Set', new Set([1]), 'payload.data: Set'],
  ['a RegExp', { pattern: /a/ }, 'payload.data.pattern: RegExp'],
  ['an Error', { cause: new Error('x') }, 'payload.data.cause: Error'],
  ['bytes', { raw: new Uint8Array([1]) }, 'payload.data.raw: Uint8Array'],
  ['a promise', { later: Promise.resolve(1) }, 'payload.data.later: Promise'],
  ['an invalid Date', { at: new Date(Number.NaN) }, 'payload.data.at: an invalid Date'],
  [
    'a getter that throws',
    {
      get price(): number {
        throw new Error('not loaded');
      },
    },
    'payload.data.price: reading the value threw',
  ],
  [
    'toJSON that throws',
    {
      toJSON(): unknown {
        throw new Error('not loaded');
      },
    },
    'payload.data: reading the value threw',
  ],
];

const kept: readonly (readonly [string, unknown, unknown])[] = [
  ['the text of an escaped NUL', { a: String.raw`x\u0000y` }, { a: String.raw`x\u0000y` }],
  ['a Date, as ISO text', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
  ['what toJSON answers', { price: new Money(700) }, { price: { amount: 700 } }],
  ['an optional field that is undefined, as absent', { a: 1, note: undefined }, { a: 1 }],
  ['a key named __proto__', JSON.parse('{"__proto__":{"admin":true}}'), JSON.parse('{"__proto__":{"admin":true}}')],
  ['keys named constructor and toString', { constructor: 1, toString: 2 }, { constructor: 1, toString: 2 }],
  ['null', { a: null, list: [null] }, { a: null, list: [null] }],
  ['empty text, objects and arrays', { '': '', a: {}, b: [] }, { '': '', a: {}, b: [] }],
  ['numbers at the edges', [0, -1, 1e-7, 1.5e300, 2 ** 53, 5e-324], [0, -1, 1e-7, 1.5e300, 2 ** 53, 5e-324]],
  ['one object in two places', [shared, { again: shared }], [{ a: 1 }, { again: { a: 1 } }]],
  ['text of every kind', 'é😀\u2028"\\/\b\f\n\r\t</script>', 'é😀\u2028"\\/\b\f\n\r\t</script>'],
  ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
];

describe('the payload of an event', () => {
  let app: OutboxApp;
  beforeAll(async () => {
    app = await startOutboxApp({ events: [AnythingSaid] });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.database.query('truncate outbox_event, outbox_delivery');
    app.memory.clear();
  });

  it.each(refused)('%s is refused with its path, and the transaction stays usable', async (_what, data, message) => {
    const id = randomUUID();
    await app.outbox.transaction(async () => {
      const emitted = app.outbox.emit(new AnythingSaid(data));
      await expect(emitted).rejects.toThrow(UnserializablePayloadError);
      await expect(emitted).rejects.toThrow(message);
      await app.orders.insert({ id, amountCents: 1 });
    });
    expect(await app.orders.findOneBy({ id })).not.toBeNull();
    expect(await app.database.query('select id from outbox_event')).toEqual([]);
  });

  it.each(kept)('%s is delivered unchanged', async (_what, data, expected) => {
    await app.outbox.transaction(() => app.outbox.emit(new AnythingSaid(data)));
    await app.dispatcher.drain();
    expect(app.memory.accepted.map(({ envelope }) => envelope.payload)).toEqual([{ id: 'it', data: expected }]);
  });

  it('one bad event in a list stores none of it', async () => {
    await app.outbox.transaction(async () => {
      const emitted = app.outbox.emit([new AnythingSaid(1), new AnythingSaid(1n), new AnythingSaid(2)]);
      await expect(emitted).rejects.toThrow('payload.data: BigInt');
    });
    expect(await app.database.query('select id from outbox_event')).toEqual([]);
  });

  it('nesting that would exhaust the stack is refused like any other value', async () => {
    let deep: unknown = 'bottom';
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    const readable = JSON.parse(`${'['.repeat(400)}${']'.repeat(400)}`);
    await app.outbox.transaction(async () => {
      await expect(app.outbox.emit(new AnythingSaid(deep))).rejects.toThrow(UnserializablePayloadError);
      await app.outbox.emit(new AnythingSaid(readable));
    });
    await app.dispatcher.drain();
    expect(app.memory.accepted.map(({ envelope }) => envelope.payload)).toEqual([{ id: 'it', data: readable }]);
  });

  it('a member that toJSON of its parent hides is not looked at', async () => {
    const hiding = { secret: 1n, toJSON: () => ({ shown: true }) };
    await app.outbox.transaction(() => app.outbox.emit(new AnythingSaid(hiding)));
    expect(await app.database.query(`select payload -> 'data' as data from outbox_event`)).toEqual([
      { data: { shown: true } },
    ]);
  });
});
