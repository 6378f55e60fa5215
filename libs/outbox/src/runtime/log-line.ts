/** A fixed phrase with fields, `phrase key=value …`, so that logs can be searched by phrase. Never a payload or secret. */
export function logLine(phrase: string, fields: Readonly<Record<string, string | number | undefined>>): string {
  const pairs = Object.entries(fields).filter(([, value]) => value !== undefined);
  return [
    phrase,
    ...pairs.map(([key, value]) => `${key}=${typeof value === 'number' ? value : JSON.stringify(value)}`),
  ].join(' ');
}
