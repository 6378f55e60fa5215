import type { InjectionToken } from '@nestjs/common';
import type { EventClass } from '../event/index.js';
import type { EmitOptions } from './emit-options.js';

/** What one `@EmitsEvent` says. */
export interface EmitsEventSpec {
  readonly eventClass: EventClass;
  /** Makes the event, its fields, a list of either, or nothing, of the method's result and arguments. */
  readonly map: (result: unknown, ...args: unknown[]) => unknown;
  readonly options: EmitsEventOptions;
  readonly className: string;
  readonly method: string;
}

export interface EmitsEventOptions extends EmitOptions {
  /** Token of the DataSource whose outbox is meant, as given to OutboxModule; default the default one. */
  readonly dataSource?: InjectionToken;
}

const SPECS = Symbol('nestjs-transactional-outbox:emits-event');

export function addSpec(prototype: object, spec: EmitsEventSpec): void {
  Reflect.defineMetadata(SPECS, [...specsOf(prototype), spec], prototype);
}

/** All declarations of a class, inherited ones included. */
export function specsOf(prototype: object): readonly EmitsEventSpec[] {
  return (Reflect.getMetadata(SPECS, prototype) as readonly EmitsEventSpec[] | undefined) ?? [];
}
