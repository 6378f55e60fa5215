import { Injectable } from '@nestjs/common';
import { EmitsEvent, InvalidEventError } from 'nestjs-transactional-outbox';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  noted,
  OrderNoted,
  OrderStep,
  type OutboxApp,
  SkippableStep,
  startOutboxApp,
  step,
} from '../support/outbox-app.js';

const ONE = '00000000-0000-7000-8000-000000000001';
const TWO = '00000000-0000-7000-8000-000000000002';

/** What the mapping of `mapped` was called with, and what it answers. */
let seen: unknown[] = [];
let answer: () => unknown = () => undefined;

@Injectable()
class Mapping {
  // The answers of a mapping that the types refuse as well come from here.
  @EmitsEvent(OrderNoted, (...args: unknown[]) => {
    seen = args;
    return answer() as OrderNoted;
  })
  mapped(result: unknown, _second?: unknown): Promise<unknown> {
    return Promise.resolve(result);
  }

  @EmitsEvent(OrderNoted)
  bare<T extends OrderNoted | OrderNoted[] | undefined>(result: T): Promise<T> {
    return Promise.resolve(result);
  }

  @EmitsEvent(OrderStep, (id: string) => [step(id, 1), step(id, 2)])
  @EmitsEvent(OrderNoted, (id: string) => noted(id))
  @EmitsEvent(SkippableStep, (id: string) => ({ orderId: id, step: 3 }), { headers: { tenant: 'north' } })
  async three(id: string): Promise<string> {
    return id;
  }

  @EmitsEvent(OrderStep, () => undefined)
  @EmitsEvent(OrderNoted, (id: string) => noted(id))
  async second(id: string): Promise<string> {
    return id;
  }
}

describe('what the mapping of @EmitsEvent makes of a call', () => {
  let app: OutboxApp;
  let service: Mapping;
  beforeAll(async () => {
    app = await startOutboxApp({ providers: [Mapping] });
    service = app.module.get(Mapping);
    await app.database.query('create table statements (at timestamptz default clock_timestamp())');
    await app.database.query(`create function note_statement() returns trigger language plpgsql as
      'begin insert into statements default values; return null; end'`);
    await app.database.query(
      'create trigger note_statement after insert on outbox_event for each statement execute function note_statement()',
    );
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.database.query('truncate outbox_event, outbox_delivery, outbox_aggregate, statements');
    app.memory.clear();
    seen = [];
    answer = () => undefined;
  });

  const delivered = async (): Promise<unknown[]> => {
    await app.dispatcher.drain();
    return app.memory.accepted.map(({ envelope }) => [envelope.type, envelope.payload]);
  };
  const statements = async (): Promise<number> => (await app.database.query('select from statements')).length;

  it('the mapping gets the result and then the arguments, and the caller gets the result itself', async () => {
    const [result, second] = [{ any: 'thing' }, Symbol('second')];
    expect(await service.mapped(result, second)).toBe(result);
    expect(seen).toHaveLength(3);
    expect([seen[0] === result, seen[1] === result, seen[2] === second]).toEqual([true, true, true]);
  });

  it('a result of undefined is passed to the mapping like any other', async () => {
    answer = () => noted(ONE);
    expect(await service.mapped(undefined, 'second')).toBeUndefined();
    expect(seen).toEqual([undefined, undefined, 'second']);
    expect(await delivered()).toEqual([['order.noted', { orderId: ONE, amountCents: 100 }]]);
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['an empty list', []],
  ])('%s states no fact: the call succeeds and no statement is sent', async (_what, nothing) => {
    answer = () => nothing;
    expect(await service.mapped('result')).toBe('result');
    expect(await delivered()).toEqual([]);
    expect(await statements()).toBe(0);
  });

  it.each([
    ['an instance', () => noted(ONE, 5), [5]],
    ['the fields', () => ({ orderId: ONE, amountCents: 6 }), [6]],
    ['a list of both', () => [noted(ONE, 7), { orderId: ONE, amountCents: 8 }, noted(ONE, 9)], [7, 8, 9]],
  ])('%s becomes the events in that order, by one statement', async (_what, give, amounts) => {
    answer = give;
    await service.mapped('result');
    expect(await delivered()).toEqual(amounts.map((amountCents) => ['order.noted', { orderId: ONE, amountCents }]));
    expect(await statements()).toBe(1);
  });

  it('fields must pass the rules of the event class as an instance must', async () => {
    answer = () => ({ orderId: 'no uuid', amountCents: 0 });
    await expect(service.mapped('result')).rejects.toThrow(InvalidEventError);
    await expect(service.mapped('result')).rejects.toThrow(
      /orderId must be a UUID.*amountCents must not be less than 1/,
    );
    expect(await statements()).toBe(0);
  });

  it.each([
    ['text', 'done', 'string'],
    ['true', true, 'boolean'],
    ['a number in a list', [noted(ONE), 7], 'number'],
    ['null in a list', [noted(ONE), null], 'null'],
  ])('%s is no event, and the error names the method', async (_what, value, kind) => {
    answer = () => value;
    await expect(service.mapped('result')).rejects.toThrow(InvalidEventError);
    await expect(service.mapped('result')).rejects.toThrow(
      `@EmitsEvent(OrderNoted) on Mapping.mapped: the mapping gave ${kind}.`,
    );
    expect(await delivered()).toEqual([]);
  });

  it("a promise is no event, and its rejection is nobody else's problem", async () => {
    for (const settle of [() => Promise.resolve(noted(ONE)), () => Promise.reject(new Error('later'))]) {
      answer = settle;
      await expect(service.mapped('result')).rejects.toThrow('on Mapping.mapped: the mapping gave a promise.');
    }
    expect(await statements()).toBe(0);
  });

  it.each([
    ['an own property "constructor"', '{ "constructor": "x" }'],
    ['an own property "__proto__"', '{ "__proto__": { "constructor": "x" } }'],
  ])('fields from outside with %s cannot become something else than the event', async (_what, json) => {
    answer = () => ({ ...noted(ONE), ...JSON.parse(json) });
    await expect(service.mapped('result')).rejects.toThrow(InvalidEventError);
    expect(await statements()).toBe(0);
  });

  it('without a mapping the result is the event, whether instance, fields or list', async () => {
    await service.bare(noted(ONE, 1));
    await service.bare({ orderId: ONE, amountCents: 2 });
    await service.bare([noted(ONE, 3), noted(TWO, 4)]);
    await service.bare(undefined);
    expect(await delivered()).toEqual([
      ['order.noted', { orderId: ONE, amountCents: 1 }],
      ['order.noted', { orderId: ONE, amountCents: 2 }],
      ['order.noted', { orderId: ONE, amountCents: 3 }],
      ['order.noted', { orderId: TWO, amountCents: 4 }],
    ]);
  });

  it('several decorators on one method emit from top to bottom, by one statement, each with its headers', async () => {
    expect(await service.three(ONE)).toBe(ONE);
    expect(await statements()).toBe(1);
    await app.dispatcher.drain();
    const sent = app.memory.accepted.map(({ envelope: { type, payload, headers, sequence } }) => ({
      type,
      payload,
      headers,
      sequence,
    }));
    expect(sent).toEqual([
      { type: 'order.step', payload: { orderId: ONE, step: 1 }, headers: {}, sequence: 1n },
      { type: 'order.step', payload: { orderId: ONE, step: 2 }, headers: {}, sequence: 2n },
      { type: 'order.noted', payload: { orderId: ONE, amountCents: 100 }, headers: {}, sequence: undefined },
      { type: 'order.skippable', payload: { orderId: ONE, step: 3 }, headers: { tenant: 'north' }, sequence: 3n },
    ]);
  });

  it('when one of several decorators has nothing to say, the others still do', async () => {
    await service.second(ONE);
    expect(await delivered()).toEqual([['order.noted', { orderId: ONE, amountCents: 100 }]]);
  });
});
