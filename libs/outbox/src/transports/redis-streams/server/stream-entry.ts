import type { ConsumedMessage } from '../../consuming/index.js';

/** An entry as Redis gives it: its id, and fields and values in turn; no fields when it was deleted meanwhile. */
export type RawEntry = readonly [id: string, fields: readonly Buffer[] | null];

/** @param stream name of the stream, for people. */
export function toConsumedMessage(stream: string, [id, fields]: RawEntry): ConsumedMessage {
  const headers: Record<string, string> = {};
  let body = Buffer.alloc(0);
  for (let index = 0; fields !== null && index + 1 < fields.length; index += 2) {
    const [name, value] = [String(fields[index]), fields[index + 1] ?? Buffer.alloc(0)];
    if (name === 'data') body = Buffer.from(value);
    else headers[name] = value.toString('utf8');
  }
  return { source: `Redis stream "${stream}", entry ${id}`, contentType: headers['content-type'] ?? '', headers, body };
}
