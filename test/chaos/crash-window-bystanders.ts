import { expect } from 'vitest';
import type { OutboxQueue } from '../support/outbox-queue.js';

/** Rows of everybody else: a dead letter, an event on its way elsewhere, and one that is shipped and finished. */
export interface Bystanders {
  expectUnchanged(): Promise<void>;
}

export async function standBy(queue: OutboxQueue): Promise<Bystanders> {
  const { database } = queue;
  const [dead, elsewhere, shipped] = await queue.emitUnordered(3);
  await database.query(
    `update outbox_delivery set status = 1, attempts = 3, last_error = 'refused' where event_id = $1`,
    [dead],
  );
  await database.query(`update outbox_delivery set destination = 'elsewhere' where event_id = $1`, [elsewhere]);
  await database.query('delete from outbox_delivery where event_id = $1', [shipped]);
  await database.query('insert into shipments ("eventId") values ($1)', [shipped]);
  const events = [dead, elsewhere, shipped];

  const rows = async (): Promise<unknown> => ({
    log: await database.query('select * from outbox_event where id = any ($1::uuid[]) order by id', [events]),
    queue: await database.query('select * from outbox_delivery where event_id = any ($1::uuid[]) order by id', [
      events,
    ]),
    shipments: await database.query('select * from shipments where "eventId" = any ($1) order by id', [events]),
  });
  const before = await rows();
  return {
    async expectUnchanged() {
      expect(await rows()).toEqual(before);
    },
  };
}
