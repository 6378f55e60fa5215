import { LimitExceededError, UnserializablePayloadError } from '../errors/index.js';

/** Deeper values would exhaust the stack of this process, at about 1,300 levels, or that of a consumer. */
const MAX_DEPTH = 500;

/** JSON text of a payload and its size as UTF-8. */
export interface PayloadJson {
  readonly text: string;
  readonly bytes: number;
}

/**
 * Turns a payload into JSON and refuses whatever JSON would change or drop in silence, or jsonb could not keep.
 *
 * Follows JSON.stringify for `toJSON` (so a valid Date becomes ISO text) and leaves out object properties that are
 * `undefined`, which is what an absent optional field is. Refuses: BigInt, symbols, functions, NaN and infinities,
 * `undefined` inside an array, Map, Set, Error, RegExp and other built-in objects, invalid dates, circular references,
 * NUL (PostgreSQL 22P05) and lone surrogates, getters that throw, more than 500 levels.
 *
 * @param name what the value is called in errors, the root of the path.
 * @throws UnserializablePayloadError with the path of the offending value.
 * @throws LimitExceededError above `maxBytes`.
 */
export function toPayloadJson(payload: unknown, maxBytes: number, name = 'payload'): PayloadJson {
  const text = JSON.stringify(plainCopy(payload, name, '', new Set()));
  if (text === undefined) throw new UnserializablePayloadError(name, 'undefined is no JSON value. Emit an object.');
  const bytes = Buffer.byteLength(text, 'utf8');
  if (bytes > maxBytes) throw new LimitExceededError(name, bytes, maxBytes, 'bytes');
  return { text, bytes };
}

function plainCopy(value: unknown, path: string, key: string, ancestors: Set<object>): unknown {
  switch (typeof value) {
    case 'string':
      requireStorableText(value, path);
      return value;
    case 'number':
      if (!Number.isFinite(value))
        throw new UnserializablePayloadError(path, `${value} would become null in JSON. Emit a finite number or null.`);
      return value;
    case 'boolean':
      return value;
    case 'undefined':
      throw new UnserializablePayloadError(path, 'undefined would become null or vanish in JSON. Emit null.');
    case 'bigint':
      throw new UnserializablePayloadError(path, 'BigInt has no JSON form. Emit it as text.');
    case 'object':
      return value === null ? null : copyObject(value, path, key, ancestors);
    default:
      throw new UnserializablePayloadError(path, `a ${typeof value} has no JSON form. Leave it out.`);
  }
}

function copyObject(value: object, path: string, key: string, ancestors: Set<object>): unknown {
  if (ancestors.has(value)) throw circularReference(path);
  if (ancestors.size >= MAX_DEPTH)
    throw new UnserializablePayloadError(
      `${path.slice(0, 100)}…`,
      `nested deeper than ${MAX_DEPTH} levels. Flatten it.`,
    );
  if (guarded(path, () => value instanceof Date && Number.isNaN(value.getTime()))) {
    throw new UnserializablePayloadError(path, 'an invalid Date would become null in JSON. Emit a valid one or null.');
  }
  ancestors.add(value);
  try {
    const toJson = readMember(value, 'toJSON', path);
    if (typeof toJson === 'function') {
      const replaced: unknown = guarded(path, () => toJson.call(value, key));
      if (typeof replaced !== 'object' || replaced === null) return plainCopy(replaced, path, key, ancestors);
      if (replaced !== value && ancestors.has(replaced)) throw circularReference(path);
      // As JSON.stringify does, which asks once: toJSON may answer with another instance of the same class.
      return copyMembers(replaced, path, ancestors);
    }
    return copyMembers(value, path, ancestors);
  } finally {
    ancestors.delete(value);
  }
}

function copyMembers(value: object, path: string, ancestors: Set<object>): unknown {
  if (guarded(path, () => Array.isArray(value))) return copyItems(value as readonly unknown[], path, ancestors);
  const kind = guarded(path, () => Object.prototype.toString.call(value));
  if (kind !== '[object Object]') {
    throw new UnserializablePayloadError(
      path,
      `${kind.slice(8, -1)} would lose its content in JSON. Emit plain objects and arrays.`,
    );
  }
  const copy: Record<string, unknown> = {};
  for (const key of guarded(path, () => Object.keys(value))) {
    const memberPath = /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(key)
      ? `${path}.${key}`
      : `${path}[${JSON.stringify(key)}]`;
    requireStorableText(key, memberPath);
    const member = readMember(value, key, memberPath);
    if (member === undefined) continue;
    // defineProperty, because an assignment to "__proto__" would set the prototype instead of a member.
    Object.defineProperty(copy, key, { value: plainCopy(member, memberPath, key, ancestors), enumerable: true });
  }
  return copy;
}

function copyItems(items: readonly unknown[], path: string, ancestors: Set<object>): unknown[] {
  const copy: unknown[] = [];
  for (let index = 0; index < items.length; index += 1) {
    const itemPath = `${path}[${index}]`;
    copy.push(plainCopy(readMember(items, index, itemPath), itemPath, String(index), ancestors));
  }
  return copy;
}

function circularReference(path: string): UnserializablePayloadError {
  return new UnserializablePayloadError(path, 'circular reference. Emit a tree of plain values.');
}

function requireStorableText(text: string, path: string): void {
  if (text.includes('\u0000'))
    throw new UnserializablePayloadError(path, 'contains the NUL character, which PostgreSQL cannot store. Remove it.');
  if (!text.isWellFormed())
    throw new UnserializablePayloadError(
      path,
      'contains a lone surrogate, which is no valid text. Use toWellFormed() on it.',
    );
}

function readMember(holder: object, key: string | number, path: string): unknown {
  return guarded(path, () => (holder as Record<string | number, unknown>)[key]);
}

function guarded<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UnserializablePayloadError(path, 'reading the value threw an error. See the cause.', error);
  }
}
