import type { ConsumedMessage } from './message-context.js';
import type { ReadMessage } from './message-server.js';

/**
 * By which patterns a handler is looked for: the event's type, then the place that it came from; last `unreadable`, so that
 * a message that is no event comes to somebody who parks it.
 *
 * @param type as the broker's headers say it.
 */
export function readParts({ body }: ConsumedMessage, type: string | undefined, place: string): ReadMessage {
  const parsed = parse(body);
  const structured = typeOf(parsed);
  const patterns = [type, structured, place].filter((one) => one !== undefined);
  return {
    isEvent: type !== undefined || structured !== undefined,
    patterns: [...patterns, 'unreadable'],
    data: type === undefined && structured !== undefined ? dataOf(parsed) : parsed,
  };
}

function parse(body: Buffer): unknown {
  const text = body.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text; // whoever needs an event says what is wrong with it
  }
}

function typeOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('specversion' in value) || !('type' in value)) return undefined;
  return typeof value.type === 'string' ? value.type : undefined;
}

function dataOf(event: unknown): unknown {
  return (event as { data?: unknown }).data;
}
