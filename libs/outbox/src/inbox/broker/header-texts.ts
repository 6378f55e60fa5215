/** Headers as text: brokers give them as text or bytes, and Nest makes objects of some. */
export function headerTexts(headers: Readonly<Record<string, unknown>> | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(headers ?? {}).flatMap(([name, value]) => toText(name, value)));
}

function toText(name: string, value: unknown): [string, string][] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return [[name, value]];
  if (value instanceof Uint8Array) return [[name, Buffer.from(value).toString()]];
  return [[name, typeof value === 'object' ? JSON.stringify(value) : String(value)]];
}
