import 'reflect-metadata';
import { ConfigurationError } from '../errors/index.js';

/** A class that carries `@OutboxEvent`. Its constructor may take anything. */
// biome-ignore lint/suspicious/noExplicitAny: a class type must accept every constructor signature.
export type EventClass<T extends object = object> = new (...args: any[]) => T;

/** What happens to the followers of an ordered event that became a dead letter. */
export type OnDead = 'block' | 'skip';

export interface EventDefinition {
  readonly eventClass: EventClass;
  readonly type: string;
  readonly aggregateType: string;
  readonly version: number;
  readonly ordered: boolean;
  readonly onDead: OnDead;
}

const DEFINITION = Symbol('nestjs-transactional-outbox:event');
const AGGREGATE_ID = Symbol('nestjs-transactional-outbox:aggregate-id');

export function setEventDefinition(definition: EventDefinition): void {
  Reflect.defineMetadata(DEFINITION, definition, definition.eventClass);
}

export function setAggregateIdProperty(prototype: object, property: string | symbol): void {
  const earlier: unknown = Reflect.getOwnMetadata(AGGREGATE_ID, prototype);
  if (earlier !== undefined) {
    throw new ConfigurationError(
      `${prototype.constructor.name} has two @AggregateId() properties, "${String(earlier)}" and "${String(property)}". Keep one.`,
    );
  }
  Reflect.defineMetadata(AGGREGATE_ID, property, prototype);
}

/** The definition that `@OutboxEvent` gave this very class, or undefined. A subclass needs a decorator of its own. */
export function findEventDefinition(eventClass: unknown): EventDefinition | undefined {
  // What stands in a property "constructor" need not be a class.
  if (typeof eventClass !== 'function') return undefined;
  return Reflect.getOwnMetadata(DEFINITION, eventClass) as EventDefinition | undefined;
}

/** @throws ConfigurationError when the class has no `@OutboxEvent` or no `@AggregateId`. */
export function requireEventDefinition(eventClass: EventClass): EventDefinition {
  if (eventClass === undefined) {
    throw new ConfigurationError(
      'the event class is undefined where a decorator or route names it. Look for imports that go round in a circle.',
    );
  }
  const definition = findEventDefinition(eventClass);
  if (definition === undefined) {
    throw new ConfigurationError(
      `${eventClass.name || 'this class'} is not an outbox event. Decorate it with @OutboxEvent('type', { aggregate: '…' }).`,
    );
  }
  if (aggregateIdProperty(eventClass) === undefined) {
    throw new ConfigurationError(
      `${eventClass.name} does not say which aggregate it is about. Put @AggregateId() on the property that holds the id.`,
    );
  }
  return definition;
}

/** Name of the property that carries `@AggregateId`, its own or an inherited one. */
export function aggregateIdProperty(eventClass: EventClass): string | symbol | undefined {
  return Reflect.getMetadata(AGGREGATE_ID, eventClass.prototype) as string | symbol | undefined;
}
