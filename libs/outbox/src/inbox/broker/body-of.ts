/** The bytes of a body that somebody may have taken for JSON and parsed. */
export function bodyOf(value: unknown): Buffer {
  if (value instanceof Uint8Array) return Buffer.from(value);
  if (typeof value === 'string') return Buffer.from(value);
  return Buffer.from(value === undefined ? '' : JSON.stringify(value));
}
