/** One document; times as ISO 8601, whole numbers beyond 2^53 as text, a Map as an object. */
export function toJson(data: unknown): string {
  return `${JSON.stringify(data, plain, 2)}\n`;
}

function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Map) return Object.fromEntries(value);
  return value;
}
