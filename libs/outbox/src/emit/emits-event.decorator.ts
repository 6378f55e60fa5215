import 'reflect-metadata';
import { Inject } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { outboxToken } from '../config/index.js';
import { ConfigurationError } from '../errors/index.js';
import { type EventClass, requireEventDefinition } from '../event/index.js';
import { addSpec, type EmitsEventOptions, type EmitsEventSpec, specsOf } from './emits-event-metadata.js';
import { eventsOf } from './map-result.js';
import { OutboxService } from './outbox.service.js';

/** The fields of an event class, without its methods. */
export type EventFields<E> = { [K in keyof E as E[K] extends (...args: never[]) => unknown ? never : K]: E[K] };

/** An event, its fields, a list of either; nothing means that this call states no fact. */
export type MappedEvent<E> = E | EventFields<E> | readonly (E | EventFields<E>)[] | undefined | null;

type AsyncMethod<R> = (...args: never[]) => Promise<R>;

type Wrapped = (this: Record<symbol, unknown> | undefined, ...args: unknown[]) => Promise<unknown>;

/** Declarations of each wrapped method, by the wrapping function itself: a second decorator adds to the first. */
const specsByWrapper = new WeakMap<object, EmitsEventSpec[]>();

/** Takes a method whose promise gives `R`, and keeps its signature. */
type EmitsEventDecorator<R> = <M extends AsyncMethod<R>>(
  target: object,
  member: string | symbol,
  descriptor: TypedPropertyDescriptor<M>,
) => void;

/**
 * Runs the method in one transaction with the event it states. Joins the transaction that is there already (ambient,
 * or an active EntityManager among the arguments), else opens one; injected repositories take part in it. If the method
 * throws, nothing is stored and the same error reaches the caller. Several decorators on one method: several events.
 *
 * The method must return a promise. Refused while the class is defined: anything but an instance method.
 *
 * @param map gets the method's result, then its arguments; without it the result itself is the event.
 */
export function EmitsEvent<E extends object, R = unknown>(
  eventClass: EventClass<E>,
  // biome-ignore lint/suspicious/noExplicitAny: the arguments' types are those that the user writes in `map`.
  map: (result: R, ...args: any[]) => MappedEvent<NoInfer<E>>,
  options?: EmitsEventOptions,
): EmitsEventDecorator<R>;
export function EmitsEvent<E extends object>(eventClass: EventClass<E>): EmitsEventDecorator<MappedEvent<E>>;
export function EmitsEvent<E extends object>(
  eventClass: EventClass<E>,
  map: undefined,
  options: EmitsEventOptions,
): EmitsEventDecorator<MappedEvent<E>>;
export function EmitsEvent(
  eventClass: EventClass,
  map?: (result: never, ...args: unknown[]) => unknown,
  options: EmitsEventOptions = {},
): EmitsEventDecorator<never> {
  return (target, member, descriptor) => {
    const method = requireMethod(target, member, descriptor);
    requireEventDefinition(eventClass);
    const spec: EmitsEventSpec = {
      eventClass,
      map: (map as EmitsEventSpec['map'] | undefined) ?? ((result) => result),
      options,
      className: target.constructor.name,
      method: String(member),
    };
    const token = outboxToken(OutboxService, options.dataSource);
    const property = injectOutbox(target, token);
    addSpec(target, spec);
    const earlier = specsByWrapper.get(method);
    // Decorators apply bottom-up; the events are emitted in the order in which they are written.
    if (earlier?.every((other) => other.options.dataSource === options.dataSource)) {
      earlier.unshift(spec);
      return;
    }
    descriptor.value = wrap(method as Wrapped, property, [spec]) as unknown as typeof descriptor.value;
  };
}

function wrap(method: Wrapped, property: symbol, specs: EmitsEventSpec[]): Wrapped {
  const wrapper: Wrapped = async function (...args) {
    const outbox = requireOutbox(this?.[property], specs);
    return outbox.runEmitting(args.filter(isEntityManager), async () => {
      const result = await method.apply(this, args);
      return {
        result,
        emissions: specs.map((spec) => ({ events: eventsOf(spec, result, args), options: spec.options })),
      };
    });
  };
  Object.defineProperties(wrapper, {
    name: { value: method.name, configurable: true },
    length: { value: method.length, configurable: true },
  });
  for (const key of Reflect.getOwnMetadataKeys(method)) {
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, method), wrapper);
  }
  specsByWrapper.set(wrapper, specs);
  return wrapper;
}

/** Property injection works for every scope, for inherited methods, and leaves the constructor alone. */
function injectOutbox(target: object, token: ReturnType<typeof outboxToken>): symbol {
  const property = Symbol.for(`nestjs-transactional-outbox:${typeof token === 'function' ? 'default' : String(token)}`);
  const isInjected = specsOf(target).some((spec) => outboxToken(OutboxService, spec.options.dataSource) === token);
  if (!isInjected) Inject(token)(target, property);
  return property;
}

function requireOutbox(injected: unknown, specs: readonly EmitsEventSpec[]): OutboxService {
  if (injected instanceof OutboxService) return injected;
  const [spec] = specs;
  throw new ConfigurationError(
    `${spec?.className}.${spec?.method}() carries @EmitsEvent, but its instance was not created by Nest, or it was called without one. List the class in the providers of a module that sees OutboxModule.`,
  );
}

function requireMethod(target: object, member: unknown, descriptor: PropertyDescriptor | undefined): object {
  if (typeof member === 'object') {
    const { name } = (member ?? {}) as { name?: unknown };
    throw new ConfigurationError(
      `@EmitsEvent on ${String(name)}: called as a standard decorator. Compile with "experimentalDecorators": true, as Nest itself needs it.`,
    );
  }
  const isStatic = typeof target === 'function';
  const owner = isStatic ? target.name : target.constructor.name;
  const refuse = (problem: string): never => {
    throw new ConfigurationError(
      `@EmitsEvent on ${owner}.${String(member)}: ${problem}. Use it on an instance method that returns a promise.`,
    );
  };
  if (isStatic) return refuse('a static method has no provider to emit through');
  if (descriptor === undefined) return refuse('a property is not a method');
  if (descriptor.get !== undefined || descriptor.set !== undefined) return refuse('an accessor is not a method');
  const method: unknown = descriptor.value;
  if (typeof method !== 'function') return refuse('this is not a method');
  if (/Generator/.test(method.constructor.name)) return refuse('a generator has no single result');
  return method;
}

function isEntityManager(value: unknown): value is EntityManager {
  return (
    typeof value === 'object' &&
    value !== null &&
    (value as { '@instanceof'?: unknown })['@instanceof'] === Symbol.for('EntityManager')
  );
}
