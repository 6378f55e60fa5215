import type { InMemoryDelivery, InMemoryLane, InMemoryQueue } from '../../libs/outbox/src/testing/index.js';

/** The queue at one moment; what the store does later does not change it. */
export interface QueueSnapshot {
  /** By the clock of the database. */
  readonly now: number;
  readonly rows: ReadonlyMap<string, Readonly<InMemoryDelivery>>;
  readonly lanes: ReadonlyMap<number, Readonly<InMemoryLane>>;
}

export function snapshotOf(queue: InMemoryQueue): QueueSnapshot {
  return {
    now: queue.clock(),
    rows: new Map([...queue.deliveries].map(([id, row]) => [id, { ...row }])),
    // Lanes that were never claimed are all alike.
    lanes: new Map(queue.lanes.filter(({ token }) => token > 0).map((lane) => [lane.lane, { ...lane }])),
  };
}

/** Ids of the deliveries that one operation changed or took away. */
export function changedRows(before: QueueSnapshot, after: QueueSnapshot): string[] {
  return [...before.rows].filter(([id, row]) => !isSame(row, after.rows.get(id))).map(([id]) => id);
}

export function changedLanes(before: QueueSnapshot, after: QueueSnapshot): number[] {
  return [...after.lanes].filter(([lane, row]) => !isSame(row, before.lanes.get(lane))).map(([lane]) => lane);
}

function isSame<Row extends object>(one: Row, other: Row | undefined): boolean {
  return other !== undefined && Object.entries(one).every(([key, value]) => value === other[key as keyof Row]);
}
