import { InvalidEventError } from '../errors/index.js';
import type { EventClass } from '../event/index.js';
import type { EmitsEventSpec } from './emits-event-metadata.js';

/** The events that one declaration makes of a call: none, one or several. */
export function eventsOf(spec: EmitsEventSpec, result: unknown, args: readonly unknown[]): readonly object[] {
  const mapped = spec.map(result, ...args);
  if (mapped === undefined || mapped === null) return [];
  return (Array.isArray(mapped) ? (mapped as readonly unknown[]) : [mapped]).map((one) => toEvent(spec, one));
}

/** Fields become an instance, so that its validation rules and its definition apply. */
function toEvent(spec: EmitsEventSpec, value: unknown): object {
  if (value instanceof spec.eventClass) return value;
  if (typeof value !== 'object' || value === null) {
    throw new InvalidEventError(
      `@EmitsEvent(${spec.eventClass.name}) on ${spec.className}.${spec.method}: the mapping gave ${typeof value}. Return the event, its fields, a list of them, or undefined for no event.`,
    );
  }
  return Object.assign(construct(spec.eventClass, spec), value);
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
