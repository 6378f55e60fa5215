import type { StorableEvent } from './event-store.js';

/**
 * The events as one JSON text for insert-events.sql.ts, in which payload and headers stand as they are. What the counter
 * of an ordered aggregate has to do is counted here, where it costs nothing.
 */
export function toEventRows(events: readonly StorableEvent[]): string {
  const totals = new Map<string, number>();
  for (const event of events) {
    if (event.orderingKey !== undefined) totals.set(aggregateOf(event), (totals.get(aggregateOf(event)) ?? 0) + 1);
  }
  const seen = new Map<string, number>();
  const rows = events.map((event, place) => {
    if (event.orderingKey === undefined) return rowOf(event, place, '');
    const aggregate = aggregateOf(event);
    const total = totals.get(aggregate) ?? 0;
    const number = (seen.get(aggregate) ?? 0) + 1;
    seen.set(aggregate, number);
    const behind = total - number;
    return rowOf(
      event,
      place,
      `,"ordering_key":"${event.orderingKey}","behind":${behind}${behind === 0 ? `,"adds":${total}` : ''}`,
    );
  });
  return `[${rows.join(',')}]`;
}

function rowOf(event: StorableEvent, place: number, order: string): string {
  const head = JSON.stringify({
    place,
    id: event.id,
    aggregatetype: event.aggregateType,
    aggregateid: event.aggregateId,
    type: event.type,
    version: event.version,
    payload_bytes: event.payloadBytes,
    destinations: event.destinations,
  });
  return `${head.slice(0, -1)},"headers":${event.headers},"payload":${event.payload}${order}}`;
}

function aggregateOf(event: StorableEvent): string {
  return `${event.aggregateType.length}:${event.aggregateType}:${event.aggregateId}`;
}
