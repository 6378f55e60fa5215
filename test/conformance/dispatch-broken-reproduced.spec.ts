import { randomUUID } from 'node:crypto';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delivered } from '../../libs/outbox/src/transports/index.js';
import { BareDispatcher } from '../support/bare-dispatcher.js';
import { type Gate, gate } from '../support/gate.js';
import { type OutboxQueue, startOutboxQueue } from '../support/outbox-queue.js';

/**
 * What many systems do, and what must not be done: the row locks end with the first COMMIT, so while the events are
 * being published nobody owns them.
 */
async function dispatchBroken(url: string, publish: (id: string) => Promise<void>): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query('begin');
    const { rows } = await client.query<{ id: string }>(
      'select id from message where not is_done order by id for update skip locked',
    );
    await client.query('commit');
    for (const { id } of rows) await publish(id);
    await client.query('update message set is_done = true where id = any ($1)', [rows.map(({ id }) => id)]);
  } finally {
    await client.end();
  }
}

describe('while dispatcher A is publishing, dispatcher B looks at the same queue', () => {
  let queue: OutboxQueue;
  let aIsPublishing: Gate;
  let bIsDone: Gate;
  beforeEach(async () => {
    queue = await startOutboxQueue();
    [aIsPublishing, bIsDone] = [gate(), gate()];
  });
  afterEach(() => queue.close());

  it('select for update skip locked, commit, publish, mark: every message goes out twice', async () => {
    await queue.database.query('create table message (id uuid primary key, is_done boolean not null default false)');
    const ids = [randomUUID(), randomUUID(), randomUUID()].toSorted();
    await queue.database.query('insert into message (id) select unnest($1::uuid[])', [ids]);
    const published: string[] = [];

    const a = dispatchBroken(queue.database.url, async (id) => {
      aIsPublishing.open();
      await bIsDone.opened;
      published.push(id);
    });
    await aIsPublishing.opened;
    await dispatchBroken(queue.database.url, async (id) => void published.push(id));
    bIsDone.open();
    await a;

    expect(published).toEqual([...ids, ...ids]);
  });

  it('claim, commit, publish, finalize under the token: every event goes out once', async () => {
    const emitted = await queue.emitUnordered(3);
    const slow = new MemoryTransport({
      respond: async () => {
        aIsPublishing.open();
        await bIsDone.opened;
        return delivered;
      },
    });
    const quick = new MemoryTransport();

    const a = new BareDispatcher({ store: queue.openStore(), transport: slow }).drain();
    await aIsPublishing.opened;
    const ofB = await new BareDispatcher({ store: queue.openStore(), transport: quick }).drain();
    bIsDone.open();

    expect(ofB.claimed).toBe(0);
    expect((await a).delivered).toBe(3);
    const received = [...slow.received, ...quick.received].map(({ envelope }) => envelope.id);
    expect(received.toSorted()).toEqual(emitted.toSorted());
  });
});
