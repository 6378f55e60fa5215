import { UnserializablePayloadError } from 'nestjs-transactional-outbox';
import { describe, expect, it } from 'vitest';
import { toPayloadJson } from '../../libs/outbox/src/event/index.js';

const MEGABYTE = 1_048_576;
const NUL = String.fromCharCode(0);
const shared = { a: [1] };
const json = (value: unknown): string => toPayloadJson(value, MEGABYTE).text;

/** The refusal of a value, which must be one of ours and nothing else. */
function refusal(value: unknown): UnserializablePayloadError {
  try {
    json(value);
  } catch (error) {
    if (error instanceof UnserializablePayloadError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

describe('the path in a refusal is exactly that of the value', () => {
  it.each<readonly [string, unknown]>([
    ['payload', undefined],
    ['payload', () => 1],
    ['payload', `x${NUL}`],
    ['payload.items[3].total', { items: [1, 2, 3, { total: 1n }] }],
    ['payload[0][1][2]', [[0, [0, 1, Number.NaN]]]],
    ['payload.größe', { größe: Symbol('s') }],
    ['payload.$a_1', { $a_1: new Map() }],
    ['payload["a-b"]["a.b"]["c\\"d"][""]["1"]', { 'a-b': { 'a.b': { 'c"d': { '': { 1: new Set() } } } } }],
    ['payload.__proto__.constructor', { ['__proto__']: { constructor: /x/ } }],
    ['payload["\\u0000"]', { [NUL]: 1 }],
    ['payload["\\ud800"]', { '\ud800': 1 }],
    ['payload[1]', Object.assign([1, 2, 3], { 1: undefined })],
    ['payload.price.cents', { price: { toJSON: () => ({ cents: 1n }) } }],
  ])('%s', (path, value) => {
    const error = refusal(value);
    expect(error.path).toBe(path);
    expect(error.message.startsWith(`${path}: `)).toBe(true);
  });

  it('a payload that is called something else is called that in the path', () => {
    expect(() => toPayloadJson({ a: 1n }, MEGABYTE, 'headers')).toThrow(/^headers\.a: BigInt/);
  });
});

describe('whatever throws while a payload is read', () => {
  const cause = new Error('not loaded');
  const fail = (): never => {
    throw cause;
  };

  it.each<readonly [string, string, unknown]>([
    [
      'a getter',
      'payload.list[1].price',
      { list: [0, Object.defineProperty({}, 'price', { get: fail, enumerable: true })] },
    ],
    ['a getter of an item', 'payload.list[0]', { list: Object.defineProperty([1], 0, { get: fail }) }],
    ['toJSON', 'payload.price', { price: { toJSON: fail } }],
    ['a getter of toJSON', 'payload.price', { price: Object.defineProperty({}, 'toJSON', { get: fail }) }],
    ['a getter of the tag', 'payload.tag', { tag: Object.defineProperty({}, Symbol.toStringTag, { get: fail }) }],
    ['a proxy that is asked for its keys', 'payload.row', { row: new Proxy({}, { ownKeys: fail }) }],
    ['a proxy that is asked for its class', 'payload.row', { row: new Proxy({}, { getPrototypeOf: fail }) }],
  ])('%s is refused with its path and the error as cause', (_what, path, value) => {
    expect(refusal(value)).toMatchObject({ path, cause });
  });

  it('a revoked proxy is refused with its path', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(refusal({ row: proxy }).path).toBe('payload.row');
  });
});

describe('toJSON is followed as JSON.stringify follows it', () => {
  class Copying {
    constructor(readonly cents: number) {}
    toJSON(): Copying {
      return new Copying(this.cents);
    }
  }
  const self = { a: 1, toJSON: (): unknown => self };
  Object.defineProperty(self, 'toJSON', { enumerable: false });

  it.each<readonly [string, unknown]>([
    ['another instance of the class', { price: new Copying(700) }],
    ['the object itself', [self]],
    ['text', { toJSON: () => 'text' }],
    ['null', [{ toJSON: () => null }]],
    [
      'the key that it is asked with',
      [[{ toJSON: (key: unknown) => [key] }], { name: { toJSON: (key: unknown) => key } }],
    ],
    ['a Date in what it gives', { toJSON: () => ({ at: new Date(0) }) }],
    ['bytes of a Buffer', { raw: Buffer.from([1, 2, 255]) }],
    ['a URL', { at: new URL('https://example.org/a?b') }],
    ['an Error with toJSON', { error: Object.assign(new Error('x'), { toJSON: () => 'known' }) }],
  ])('%s', (_what, value) => {
    expect(json(value)).toBe(JSON.stringify(value));
  });

  it.each<readonly [string, unknown]>([
    ['undefined, which JSON would drop', { price: { toJSON: () => undefined } }],
    ['a Date, which JSON would not ask again and write as {}', { price: { toJSON: () => new Date(0) } }],
    ['an invalid Date', { price: { toJSON: () => new Date(Number.NaN) } }],
    ['a Map', { price: { toJSON: () => new Map() } }],
  ])('but %s is refused', (_what, value) => {
    expect(refusal(value).path).toBe('payload.price');
  });

  it('a reference to an object above, even in what toJSON gives, is a circular one', () => {
    const parent: Record<string, unknown> = {};
    parent.child = { toJSON: () => parent };
    expect(refusal(parent)).toMatchObject({ path: 'payload.child', message: expect.stringContaining('circular') });
    const node: Record<string, unknown> = { toJSON: () => ({ node }) };
    expect(refusal(node)).toMatchObject({ path: 'payload.node', message: expect.stringContaining('circular') });
  });
});

describe('values at the edges', () => {
  it.each<readonly [string, unknown]>([
    ['numbers', [1e21, 0.1, 5e-324, Number.MAX_VALUE, Number.MIN_SAFE_INTEGER, 1e-7, -0]],
    ['text', ['é😀', '\u2028', '"\\/\b\f\n\r\t', String.raw`\u0000`, '\u0001\u001f\u007f\uffff']],
    ['one object in two places', Array.from({ length: 2 }, () => shared)],
    [
      'own keys that other objects inherit',
      { ['__proto__']: { a: 1 }, constructor: 'x', toString: null, hasOwnProperty: 1 },
    ],
    [
      'what is inherited or hidden, and is left out',
      [Object.create({ a: 1 }), Object.defineProperty({}, 'a', { value: 1 })],
    ],
    ['an object without a prototype', Object.assign(Object.create(null), { a: [] })],
    ['top-level values', null],
  ])('%s are written as JSON.stringify does', (_what, value) => {
    expect(json(value)).toBe(JSON.stringify(value));
  });

  it.each<readonly [string, (inner: unknown) => unknown]>([
    ['arrays', (inner) => [inner]],
    ['objects', (inner) => ({ inner })],
    ['objects with toJSON', (inner) => ({ toJSON: () => ({ inner }) })],
  ])('%s nested too deep are refused by the error of the library, not by that of the stack', (_what, wrap) => {
    let value: unknown = 'bottom';
    for (let level = 0; level < 100_000; level += 1) value = wrap(value);
    expect(refusal(value).message).toContain('nested deeper than');
  });

  it('the size is that of the UTF-8 bytes, and the limit itself is allowed', () => {
    const text = 'é😀'.repeat(10);
    const bytes = Buffer.byteLength(JSON.stringify(text));
    expect(toPayloadJson(text, bytes)).toEqual({ text: JSON.stringify(text), bytes: 62 });
    expect(() => toPayloadJson(text, bytes - 1)).toThrow('payload has 62 bytes, the limit is 61.');
  });
});
