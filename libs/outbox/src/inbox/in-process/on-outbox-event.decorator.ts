import 'reflect-metadata';
import { applyDecorators } from '@nestjs/common';
import { ConfigurationError } from '../../errors/index.js';
import type { EventClass } from '../../event/index.js';
import { Inbox } from '../consumer.decorator.js';

const IN_PROCESS = Symbol('nestjs-transactional-outbox:in-process');

/**
 * Makes a method of a provider or controller the handler of events that a destination with InProcessTransport delivers. The
 * event is recorded and the method runs in one transaction; guards, interceptors and pipes apply as elsewhere in Nest.
 *
 * @param consumer Name of the destination.
 * @param events Which types the method takes.
 * @throws ConfigurationError while the class is defined, when no event is named.
 */
export function OnOutboxEvent(consumer: string, ...events: readonly [EventClass, ...EventClass[]]): MethodDecorator {
  if (events.length === 0) {
    throw new ConfigurationError(`@OnOutboxEvent('${consumer}') names no event. Give it at least one event class.`);
  }
  return applyDecorators(
    Inbox(consumer, { events }),
    (_: object, __: string | symbol, descriptor: PropertyDescriptor) => {
      Reflect.defineMetadata(IN_PROCESS, true, descriptor.value);
    },
  );
}

export function isInProcessHandler(method: object): boolean {
  return Reflect.hasMetadata(IN_PROCESS, method);
}
