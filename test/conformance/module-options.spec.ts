import { AggregateId, OutboxEvent, type OutboxModuleOptions } from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { describe, expect, it } from 'vitest';
import { resolveOptions } from '../../libs/outbox/src/config/index.js';
import { ConfigurationError } from '../../libs/outbox/src/errors/index.js';
import { OrderNoted } from '../support/outbox-app.js';

const transport = new MemoryTransport();
const good: OutboxModuleOptions = {
  destinations: { memory: { transport } },
  routes: [{ events: [OrderNoted], to: ['memory'] }],
};

/** A second class for a type that is taken. */
@OutboxEvent('order.noted', { aggregate: 'order' })
class SecondNoted {
  @AggregateId()
  orderId: string;
}

class Undecorated {}

// Options also come from JavaScript, and from JSON: values that the types rule out must be refused as well.
const given = (options: object): OutboxModuleOptions => ({ ...good, ...options });
const destination = (options: object): OutboxModuleOptions =>
  given({ destinations: { memory: { transport, ...options } } });
const dispatcher = (options: object): OutboxModuleOptions => given({ dispatcher: options });
const route = (options: object): OutboxModuleOptions =>
  given({ routes: [{ events: [OrderNoted], to: ['memory'], ...options }] });

const NUMBERS = {
  batchSize: [0, 1001],
  batchBytes: [1023, 2 ** 30 + 1],
  batchesInFlight: [0, 17],
  concurrency: [0, 257],
  leaseMs: [99, 86_400_001],
  publishTimeoutMs: [9, 86_400_001],
  maxAttempts: [0, 1001],
  retryBaseMs: [0, 86_400_001],
  retryCapMs: [0, 2_592_000_001],
  maxDeferAgeMs: [0, 315_360_000_001],
  pauseBaseMs: [0, 86_400_001],
  pauseCapMs: [0, 86_400_001],
};
const DISPATCHER_NUMBERS = { pollIntervalMs: [9, 3_600_001], poolSize: [0, 101], shutdownGraceMs: [-1, 3_600_001] };
const UNUSABLE = [Number.NaN, Number.POSITIVE_INFINITY, 1.5, '5', null];

const outOfBounds: [string, OutboxModuleOptions][] = [
  ...Object.entries(NUMBERS).flatMap(([name, values]) =>
    [...values, ...UNUSABLE.filter((value) => value !== null)].map((value): [string, OutboxModuleOptions] => [
      `destinations.memory.${name} is ${value}`,
      destination({ [name]: value }),
    ]),
  ),
  ...Object.entries(DISPATCHER_NUMBERS).flatMap(([name, values]) =>
    [...values, Number.NaN].map((value): [string, OutboxModuleOptions] => [
      `dispatcher.${name} is ${value}`,
      dispatcher({ [name]: value }),
    ]),
  ),
  ...[0, 2 ** 28 + 1, Number.NaN].map((value): [string, OutboxModuleOptions] => [
    `maxPayloadBytes is ${value}`,
    given({ maxPayloadBytes: value }),
  ]),
];

const wrong: [string, OutboxModuleOptions, string[]][] = [
  ['no transport', given({ destinations: { memory: {} } }), ['destinations.memory.transport']],
  ['no destination', given({ destinations: { memory: undefined } }), ['destinations.memory.transport']],
  ['a destination without a name', given({ destinations: { ' ': { transport } } }), ['a destination is named " "']],
  ['a long destination', given({ destinations: { ['x'.repeat(101)]: { transport } } }), ['1 to 100 characters']],
  ['an unknown destination', route({ to: ['memroy'] }), ['routes[0].to', '"memroy"', 'Known: "memory"']],
  ['no destination at all', given({ destinations: {} }), ['routes[0].to', '"memory"', 'Known: none']],
  ['a route without events', route({ events: [] }), ['routes[0].events']],
  ['a route to nowhere', route({ to: undefined }), ['routes[0].to']],
  ['a route to a text', route({ to: 'memory' }), ['routes[0].to']],
  ['no route', given({ routes: [undefined] }), ['routes[0]']],
  ['routes that are no list', given({ routes: { events: [OrderNoted], to: ['memory'] } }), ['routes']],
  ['an event class without decorator', route({ events: [Undecorated] }), ['Undecorated', '@OutboxEvent']],
  ['an event that is undefined', route({ events: [undefined] }), ['routes[0].events']],
  ['an event without a name', route({ events: [''] }), ['routes[0].events']],
  [
    'two classes of one type',
    route({ events: [OrderNoted, SecondNoted] }),
    ['order.noted', 'OrderNoted', 'SecondNoted'],
  ],
  ['an empty schema', given({ schema: '' }), ['schema']],
  ['a schema of 64 bytes', given({ schema: 'x'.repeat(64) }), ['schema', '63 bytes']],
  ['a schema with NUL', given({ schema: 'a\u0000b' }), ['schema']],
  ['a table of 49 bytes', given({ tables: { lane: 'ä'.repeat(25) } }), ['tables.lane', '48 bytes']],
  ['two tables of one name', given({ tables: { event: 'x', lane: 'x' } }), ['tables.event', 'tables.lane']],
  [
    'a table of the name of the archive',
    given({ tables: { delivery: 'd', lane: 'd_archive' } }),
    ['tables.lane', 'tables.delivery'],
  ],
  [
    'a table of the name of the view',
    given({ tables: { event: 'e', destination: 'e_status' } }),
    ['tables.destination', 'tables.event'],
  ],
  ['a table of the name of the version table', given({ tables: { lane: 'outbox_schema_version' } }), ['tables.lane']],
  ['an unknown migrate mode', given({ migrate: 'yes' }), ['migrate', 'verify, auto, off']],
  ['an unknown completion', given({ completion: 'drop' }), ['completion', 'delete, keep, archive']],
  ['a schedule that is true', dispatcher({ schedule: true }), ['dispatcher.schedule']],
];

const contradicting: [string, OutboxModuleOptions, string[]][] = [
  [
    'a publish longer than its lease',
    destination({ leaseMs: 5000 }),
    ['"publishTimeoutMs" (10000)', '"leaseMs" (5000)'],
  ],
  ['a retry above its cap', destination({ retryBaseMs: 400_000 }), ['"retryBaseMs" (400000)', '"retryCapMs" (300000)']],
  ['a pause above its cap', destination({ pauseBaseMs: 60_000 }), ['"pauseBaseMs" (60000)', '"pauseCapMs" (30000)']],
  [
    'an event larger than a batch',
    destination({ batchBytes: 2048 }),
    ['"destinations.memory.batchBytes" (2048)', '"maxPayloadBytes" (1048576)'],
  ],
  [
    'a schedule of a dispatcher that is switched off',
    dispatcher({ enabled: false, schedule: 'loop' }),
    ['"dispatcher.enabled"', '"dispatcher.schedule"'],
  ],
];

function messageOf(options: OutboxModuleOptions): string {
  try {
    resolveOptions(options);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message;
    throw error;
  }
  throw new Error('the options were accepted');
}

describe('resolveOptions', () => {
  it('accepts the options that the others are made from', () => {
    expect(resolveOptions(good).schema).toBe('public');
  });

  it.each(outOfBounds)('refuses a number out of bounds: %s', (says, options) => {
    expect(messageOf(options)).toContain(`${says}; it must be a whole number from`);
  });

  it.each(wrong)('refuses %s, and names the field', (_what, options, parts) => {
    for (const part of parts) expect(messageOf(options)).toContain(part);
  });

  it.each(contradicting)('refuses %s, and names both options', (_what, options, parts) => {
    for (const part of parts) expect(messageOf(options)).toContain(part);
  });
});
