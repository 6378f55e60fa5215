import type { EntityManager } from 'typeorm';

export const CHANNEL = 'bench_floor';

/** The least that can tell another connection of a commit: a notification inside the transaction, and nothing to read. */
export async function notifyInside(manager: EntityManager, id: string): Promise<void> {
  await manager.query('select pg_notify($1, $2)', [CHANNEL, id]);
}
