import { randomUUID } from 'node:crypto';
import { type EntityManager, EntitySchema } from 'typeorm';
import { FILLER } from './bench-events.js';

interface NaiveEvent {
  id: string;
  type: string;
  aggregateId: string;
  payload: object;
  createdAt: Date;
}

/** An outbox as most people write their first one: one wide table and an entity. */
export const NaiveEventEntity = new EntitySchema<NaiveEvent>({
  name: 'NaiveEvent',
  tableName: 'naive_event',
  columns: {
    id: { type: 'uuid', primary: true },
    type: { type: 'text' },
    aggregateId: { type: 'text' },
    payload: { type: 'jsonb' },
    createdAt: { type: 'timestamptz', createDate: true },
  },
});

export async function saveNaiveEvent(manager: EntityManager, aggregateId: string, number: number): Promise<void> {
  await manager.save(NaiveEventEntity, {
    id: randomUUID(),
    type: 'bench.noted',
    aggregateId,
    payload: { benchId: aggregateId, number, filler: FILLER },
  });
}
