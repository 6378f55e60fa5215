import { ConfigurationError } from '../errors/index.js';
import { type EventClass, type OnDead, setAggregateIdProperty, setEventDefinition } from './event-definition.js';

export interface OutboxEventOptions {
  /** What kind of thing the event is about, for example `order`. It becomes Debezium's `aggregatetype`, as it is. */
  readonly aggregate: string;
  /** Version of the payload's shape; default 1. */
  readonly version?: number;
  /** Publish the events of one aggregate in commit order, one at a time; default false, which costs nothing. */
  readonly ordered?: boolean;
  /** Ordered types only: does a dead letter hold the later events of its aggregate (`block`, default) or not (`skip`)? */
  readonly onDead?: OnDead;
}

/**
 * Declares a class as an event of the given type.
 *
 * @throws ConfigurationError while the class is defined, when a name is empty or options contradict.
 */
export function OutboxEvent(type: string, options: OutboxEventOptions): (target: EventClass) => void {
  return (target) => {
    const where = `@OutboxEvent of ${target.name}`;
    if (type.trim() === '')
      throw new ConfigurationError(`${where}: the type is empty. Name the fact, for example 'order.placed'.`);
    if (!options?.aggregate?.trim())
      throw new ConfigurationError(`${where}: "aggregate" is empty. Say what the event is about, for example 'order'.`);
    const version = options.version ?? 1;
    if (!Number.isSafeInteger(version) || version < 1 || version > 2_147_483_647) {
      throw new ConfigurationError(`${where}: "version" is ${version}; it must be a whole number from 1.`);
    }
    if (options.onDead !== undefined && options.ordered !== true) {
      throw new ConfigurationError(`${where}: "onDead" only means something together with "ordered: true".`);
    }
    setEventDefinition({
      eventClass: target,
      type,
      aggregateType: options.aggregate,
      version,
      ordered: options.ordered ?? false,
      onDead: options.onDead ?? 'block',
    });
  };
}

/** Marks the property that holds the id of the aggregate: text or a safe integer. (A bigint has no JSON form.) */
export function AggregateId(): PropertyDecorator {
  return (prototype, property) => setAggregateIdProperty(prototype, property);
}
