import { AggregateId, ConfigurationError, OutboxEvent } from 'nestjs-transactional-outbox';
import { describe, expect, it } from 'vitest';

const define = (type: string, options: Parameters<typeof OutboxEvent>[1]) => () => {
  @OutboxEvent(type, options)
  class Defined {
    @AggregateId()
    id = 'x';
  }
  return Defined;
};

describe('what @OutboxEvent refuses while the class is defined', () => {
  it('takes a type and an aggregate', () => {
    expect(define('order.placed', { aggregate: 'order' })().name).toBe('Defined');
  });

  it.each([
    ['an empty type', define(' ', { aggregate: 'a' }), /@OutboxEvent of Defined: the type is empty/],
    ['an empty aggregate', define('a.b', { aggregate: ' ' }), /@OutboxEvent of Defined: "aggregate" is empty/],
    ['version 0', define('a.b', { aggregate: 'a', version: 0 }), /"version" is 0/],
    ['a version that is no whole number', define('a.b', { aggregate: 'a', version: 1.5 }), /"version" is 1\.5/],
    ['a version beyond the column', define('a.b', { aggregate: 'a', version: 2 ** 31 }), /"version" is 2147483648/],
    ['onDead without ordered', define('a.b', { aggregate: 'a', onDead: 'skip' }), /"onDead".*"ordered: true"/],
  ])('%s, with the class and the option', (_what, definition, message) => {
    expect(definition).toThrow(ConfigurationError);
    expect(definition).toThrow(message);
  });

  it('two properties that both claim to be the aggregate id', () => {
    const twice = () => {
      class Defined {
        @AggregateId()
        one = 1;

        @AggregateId()
        two = 2;
      }
      return Defined;
    };
    expect(twice).toThrow(/Defined has two @AggregateId\(\) properties, "one" and "two"/);
  });
});
