import { randomUUID } from 'node:crypto';
import { type DataSource, type EntityManager, EntitySchema } from 'typeorm';
import { BenchNoted, BenchStepped, FILLER } from './bench-events.js';

/** SQLSTATE. */
const DEADLOCK_DETECTED = '40P01';

/** The business row of the comparisons. */
export interface BenchOrder {
  id: string;
  amountCents: number;
  note: string;
}

export const BenchOrderEntity = new EntitySchema<BenchOrder>({
  name: 'BenchOrder',
  tableName: 'bench_order',
  columns: {
    id: { type: 'uuid', primary: true },
    amountCents: { type: 'int' },
    note: { type: 'text' },
  },
});

/** The business statement: one row, by `EntityManager.insert`, which is the cheapest that TypeORM has for an entity. */
export async function insertOrder(manager: EntityManager, amountCents: number): Promise<string> {
  const id = randomUUID();
  await manager.insert(BenchOrderEntity, { id, amountCents, note: 'as ordered' });
  return id;
}

/** Empties what the writers of the comparisons fill, so that every measurement starts alike. */
export async function emptyTables(dataSource: DataSource): Promise<void> {
  for (;;) {
    try {
      await dataSource.query('truncate bench_order, outbox_event, outbox_delivery, outbox_aggregate');
      return;
    } catch (error) {
      // A dispatcher that just then looks takes its locks in another order.
      if ((error as { code?: unknown }).code !== DEADLOCK_DETECTED) throw error;
    }
  }
}

export function noted(benchId: string, number: number): BenchNoted {
  return Object.assign(new BenchNoted(), { benchId, number, filler: FILLER });
}

export function stepped(benchId: string, number: number): BenchStepped {
  return Object.assign(new BenchStepped(), { benchId, number, filler: FILLER });
}
