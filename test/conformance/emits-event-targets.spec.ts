import { Injectable } from '@nestjs/common';
import {
  AggregateId,
  ConfigurationError,
  EmitsEvent,
  InvalidEventError,
  OutboxEvent,
} from 'nestjs-transactional-outbox';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { OrderNoted, startOutboxApp } from '../support/outbox-app.js';

interface Definition {
  readonly isStandard?: boolean;
  readonly event?: readonly [unknown];
}

/** Defines a class that is written as text: the types refuse most of these already, and vitest knows one kind only. */
function define(source: string, { isStandard = false, event = [OrderNoted] }: Definition = {}): unknown {
  const { outputText, diagnostics } = ts.transpileModule(source, {
    reportDiagnostics: true,
    compilerOptions: { experimentalDecorators: !isStandard, target: ts.ScriptTarget.ES2022 },
  });
  expect(diagnostics).toEqual([]);
  const body = new Function('EmitsEvent', 'Event', `${outputText}\nreturn Orders;`);
  return Reflect.apply(body, undefined, [EmitsEvent, ...event]);
}

/** The error of the definition itself, before there is an instance or a call. */
function refusal(source: string, definition?: Definition): ConfigurationError {
  try {
    define(source, definition);
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
  throw new Error('the class was defined');
}

@OutboxEvent('wide.noted', { aggregate: 'wide' })
class NeedsArguments {
  @AggregateId()
  readonly id: string;

  constructor(fields: { readonly id: string }) {
    this.id = fields.id;
  }
}

@OutboxEvent('nothing.noted', { aggregate: 'nothing' })
class NoAggregate {
  id = 'one';
}

@Injectable()
class Making {
  @EmitsEvent(NeedsArguments, (id: string) => ({ id }))
  fields(id: string): Promise<string> {
    return Promise.resolve(id);
  }

  @EmitsEvent(NeedsArguments, (id: string) => new NeedsArguments({ id }))
  instance(id: string): Promise<string> {
    return Promise.resolve(id);
  }
}

describe('what @EmitsEvent refuses while the class is defined', () => {
  it('takes a method, in a class compiled as these are', () => {
    expect(define('class Orders { @EmitsEvent(Event) async place() {} }')).toBeTypeOf('function');
  });

  it.each([
    ['a static method', '@EmitsEvent(Event) static async place() {}', 'a static method has no provider'],
    ['a getter', '@EmitsEvent(Event) get place() { return async () => {}; }', 'an accessor is not a method'],
    ['a setter', '@EmitsEvent(Event) set place(value) {}', 'an accessor is not a method'],
    ['a property with an arrow function', '@EmitsEvent(Event) place = async () => {};', 'a property is not a method'],
    ['a property that is only declared', '@EmitsEvent(Event) place;', 'a property is not a method'],
    ['a generator', '@EmitsEvent(Event) *place() {}', 'a generator has no single result'],
    ['an async generator', '@EmitsEvent(Event) async *place() {}', 'a generator has no single result'],
  ])('%s, with class and member', (_what, member, problem) => {
    const { message } = refusal(`class Orders { ${member} }`);
    expect(message).toContain(`@EmitsEvent on Orders.place: ${problem}`);
    expect(message).toContain('Use it on an instance method that returns a promise.');
  });

  it('a static method is refused although it bears the name of an instance method', () => {
    const source = 'class Orders { async place() {} @EmitsEvent(Event) static async place() {} }';
    expect(refusal(source).message).toContain('a static method has no provider');
  });

  it.each([
    '@EmitsEvent(Event) async place() {}',
    '@EmitsEvent(Event) static async place() {}',
    '@EmitsEvent(Event) place = 1;',
  ])('a call as a standard decorator, with the member and the option that is missing: %s', (member) => {
    const { message } = refusal(`class Orders { ${member} }`, { isStandard: true });
    expect(message).toContain('@EmitsEvent on place: called as a standard decorator');
    expect(message).toContain('"experimentalDecorators": true');
  });

  it.each<readonly [string, () => unknown, string]>([
    ['a class without @OutboxEvent', () => class Plain {}, 'Plain is not an outbox event'],
    [
      'a subclass without a decorator of its own',
      () => class Later extends OrderNoted {},
      'Later is not an outbox event',
    ],
    ['a class without @AggregateId()', () => NoAggregate, 'NoAggregate does not say which aggregate it is about'],
    ['undefined, as circular imports leave it', () => undefined, 'the event class is undefined'],
  ])('an event that is %s', (_what, give, message) => {
    const source = 'class Orders { @EmitsEvent(Event) async place() {} }';
    expect(refusal(source, { event: [give()] }).message).toContain(message);
  });
});

describe('an event class whose constructor needs arguments', () => {
  it('is emitted as an instance; fields alone are refused, with event, class and member', async () => {
    const app = await startOutboxApp({ events: [NeedsArguments], providers: [Making] });
    try {
      const making = app.module.get(Making);
      await expect(making.fields('one')).rejects.toThrow(InvalidEventError);
      await expect(making.fields('one')).rejects.toThrow(
        '@EmitsEvent(NeedsArguments) on Making.fields: the class cannot be constructed without arguments. Return an instance from the mapping.',
      );
      expect(await making.instance('two')).toBe('two');
      expect(await app.database.query('select aggregateid from outbox_event')).toEqual([{ aggregateid: 'two' }]);
    } finally {
      await app.close();
    }
  });
});
