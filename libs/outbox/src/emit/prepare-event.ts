import type { ResolvedOptions } from '../config/index.js';
import { InvalidEventError, LimitExceededError, UnroutedEventError } from '../errors/index.js';
import {
  aggregateIdProperty,
  type EventClass,
  type EventDefinition,
  type EventHeaders,
  findEventDefinition,
  newEventId,
  orderingKey,
  toPayloadJson,
} from '../event/index.js';
import type { StorableEvent } from '../store/index.js';
import { carriesTrace } from '../telemetry/index.js';
import type { EmitOptions } from './emit-options.js';
import { validateEvent } from './validate-event.js';

const MAX_ID_CHARACTERS = 255;
const MAX_HEADER_BYTES = 16_384;

/**
 * Checks one event completely before any SQL is sent, so that the caller's transaction stays usable when it is refused.
 *
 * @param trace headers of the active span; the caller's own go before.
 * @throws InvalidEventError, UnserializablePayloadError, LimitExceededError, UnroutedEventError
 */
export async function prepareEvent(
  event: object,
  emit: EmitOptions,
  options: ResolvedOptions,
  trace: EventHeaders | undefined,
): Promise<StorableEvent> {
  const definition = definitionOf(event);
  const destinations = options.routes.destinationsOf(definition.type);
  if (destinations === undefined) {
    throw new UnroutedEventError(
      `no route names the event type "${definition.type}" (${definition.eventClass.name}), so nobody would receive it. Add it to "routes" of OutboxModule.`,
    );
  }
  await validateEvent(event, definition.type);
  const aggregateId = aggregateIdOf(event, definition);
  requireLength('aggregateId', aggregateId);
  requireLength('aggregateType', definition.aggregateType);
  requireLength('type', definition.type);
  const payload = toPayloadJson(event, options.maxPayloadBytes);
  return {
    id: newEventId(),
    type: definition.type,
    aggregateType: definition.aggregateType,
    aggregateId,
    payload: payload.text,
    payloadBytes: payload.bytes,
    headers: headersJson(emit, trace),
    version: definition.version,
    orderingKey: definition.ordered ? orderingKey(definition.aggregateType, aggregateId) : undefined,
    destinations,
  };
}

export function definitionOf(event: object): EventDefinition {
  const definition = findEventDefinition(event.constructor);
  if (definition !== undefined) return definition;
  throw new InvalidEventError(
    `${event.constructor?.name ?? 'this value'} is no outbox event. Emit an instance of a class that carries @OutboxEvent.`,
  );
}

function aggregateIdOf(event: object, definition: EventDefinition): string {
  const property = aggregateIdProperty(event.constructor as EventClass);
  if (property === undefined) {
    throw new InvalidEventError(
      `${definition.eventClass.name} does not say which aggregate it is about. Put @AggregateId() on the property that holds the id.`,
    );
  }
  const id: unknown = Reflect.get(event, property);
  const isUsable = (typeof id === 'string' && id !== '') || typeof id === 'bigint' || Number.isSafeInteger(id);
  if (!isUsable) {
    throw new InvalidEventError(
      `${definition.eventClass.name}.${String(property)} carries @AggregateId() and is ${id === '' ? 'empty' : String(id)}. Give it text, a safe integer or a bigint.`,
    );
  }
  const text = String(id);
  if (text.includes('\u0000') || !text.isWellFormed()) {
    throw new InvalidEventError(
      `${definition.eventClass.name}.${String(property)} holds NUL or a lone surrogate, which PostgreSQL cannot store.`,
    );
  }
  return text;
}

function headersJson(emit: EmitOptions, trace: EventHeaders | undefined): string {
  const headers = emit.headers ?? {};
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string') throw new InvalidEventError(`header "${name}" is no text. Headers carry text only.`);
  }
  const limit = toPayloadJson(headers, Number.MAX_SAFE_INTEGER, 'headers');
  if (limit.bytes > MAX_HEADER_BYTES) throw new LimitExceededError('headers', limit.bytes, MAX_HEADER_BYTES, 'bytes');
  if (trace === undefined || carriesTrace(headers)) return limit.text;
  // Business before telemetry: where both do not fit, the event goes without a trace.
  const traced = toPayloadJson({ ...headers, ...trace }, Number.MAX_SAFE_INTEGER, 'headers');
  return traced.bytes > MAX_HEADER_BYTES ? limit.text : traced.text;
}

/** Counts as PostgreSQL does: an emoji is one character, although JavaScript stores it in two units. */
function requireLength(field: string, value: string): void {
  if (value.length <= MAX_ID_CHARACTERS) return;
  const characters = [...value].length;
  if (characters > MAX_ID_CHARACTERS) throw new LimitExceededError(field, characters, MAX_ID_CHARACTERS, 'characters');
}
