import { InvalidEventError } from '../errors/index.js';
import type { EventClass } from '../event/index.js';
import type { EmitsEventSpec } from './emits-event-metadata.js';

/** The events that one declaration makes of a call: none, one or several. */
export function eventsOf(spec: EmitsEventSpec, result: unknown, args: readonly unknown[]): readonly object[] {
  const mapped = spec.map(result, ...args);
  if (mapped === undefined || mapped === null) return [];
  if (mapped instanceof Promise) {
    // Nobody will look at it any more, and its rejection must not end the process.
    mapped.catch(() => undefined);
    throw notAnEvent(spec, 'a promise');
  }
  return (Array.isArray(mapped) ? (mapped as readonly unknown[]) : [mapped]).map((one) => toEvent(spec, one));
}

/** Fields become an instance, so that its validation rules and its definition apply. */
function toEvent(spec: EmitsEventSpec, value: unknown): object {
  if (value instanceof spec.eventClass) return value;
  if (typeof value !== 'object' || value === null) throw notAnEvent(spec, value === null ? 'null' : typeof value);
  return Object.assign(construct(spec.eventClass, spec), value);
}

function notAnEvent(spec: EmitsEventSpec, given: string): InvalidEventError {
  return new InvalidEventError(
    `@EmitsEvent(${spec.eventClass.name}) on ${spec.className}.${spec.method}: the mapping gave ${given}. Return the event, its fields, a list of them, or undefined for no event, at once; await in the method.`,
  );
}

function construct(eventClass: EventClass, spec: EmitsEventSpec): object {
  try {
    return new eventClass();
  } catch (error) {
    throw new InvalidEventError(
      `@EmitsEvent(${eventClass.name}) on ${spec.className}.${spec.method}: the class cannot be constructed without arguments. Return an instance from the mapping.`,
      error,
    );
  }
}
