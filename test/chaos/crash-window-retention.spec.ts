import { RetentionService } from 'nestjs-transactional-outbox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChildProgram } from '../support/child-process.js';
import { diedAt, dieInside, startDoomed } from './crash-window-doomed.js';
import { type CrashScene, startCrashScene } from './crash-window-scene.js';

const BETWEEN_TWO_ROWS = { operation: 'DELETE', afterRows: 1, ending: 'abandon' } as const;

describe('a process that is killed while retention prunes', { timeout: 60_000 }, () => {
  let scene: CrashScene;
  let done: string[];
  /** A dead letter, and an event that was never tried. */
  let undone: string[];
  beforeEach(async () => {
    scene = await startCrashScene();
    done = await scene.place(3);
    await scene.deliver();
    undone = await scene.place(2);
    await scene.queue.database.query('update outbox_delivery set status = 1 where event_id = $1', [undone[0]]);
  });
  afterEach(() => scene.close());

  const start = (task: string, dieAt?: string): ChildProgram =>
    startDoomed(scene.queue.database, 'crash-operator', { dieAt, args: [task] });
  const logged = async (): Promise<string[]> => {
    const rows = await scene.queue.database.query<{ id: string }>(
      'select id from outbox_event where id = any ($1::uuid[]) order by id',
      [[...done, ...undone]],
    );
    return rows.map(({ id }) => id);
  };
  const countOf = async (table: string): Promise<number> =>
    (await scene.queue.database.query(`select from ${table}`)).length;
  /** The next run finishes the work, and what is not done stays and can be delivered. */
  const expectTheRestToGo = async (): Promise<void> => {
    await scene.queue.module.get(RetentionService).prune({ olderThanMs: 0 });
    expect(await logged()).toEqual(undone);
    expect(await scene.undone(undone)).toMatchObject([{ status: 1 }, { status: 0, attempts: 0 }]);
    await scene.deliver();
    expect(await scene.shipped(undone)).toEqual(undone.slice(1));
  };

  it('between two batches: the first is gone, the rest goes next time, and what is undelivered or dead stays', async () => {
    const before = await countOf('outbox_event');
    await diedAt(scene.queue.database, start('prune', 'after prune-events'), 'after prune-events');
    expect(await countOf('outbox_event')).toBe(before - 2);
    expect(await logged()).toEqual(expect.arrayContaining(undone));
    await expectTheRestToGo();
  });

  it('in the middle of a batch, and PostgreSQL abandons it: nothing of it is gone', async () => {
    const before = await countOf('outbox_event');
    await dieInside(scene.queue.database, BETWEEN_TWO_ROWS, () => start('prune'));
    expect(await countOf('outbox_event')).toBe(before);
    await expectTheRestToGo();
  });

  it('between kept deliveries and their events: the events still show as done, and go next time', async () => {
    const { database } = scene.queue;
    const [kept] = await scene.place(1);
    await database.query('update outbox_delivery set status = 2, done_at = now() where event_id = $1', [kept]);
    await diedAt(database, start('prune', 'after prune-deliveries'), 'after prune-deliveries');
    expect(await scene.undone([kept ?? ''])).toEqual([]);
    expect(await database.query('select state from outbox_event_status where event_id = $1', [kept])).toEqual([
      { state: 'done' },
    ]);
    await expectTheRestToGo();
  });

  it('in the middle of a batch of the inbox, and PostgreSQL abandons it: an event that comes again is still a duplicate', async () => {
    const { database } = scene.queue;
    await database.query(`update processed_events set processed_at = now() - interval '3 days'`);
    await dieInside(database, BETWEEN_TWO_ROWS, () => start('prune-inbox'));
    expect(await countOf('processed_events')).toBe(done.length);
    await database.query(
      `insert into outbox_delivery (event_id, destination, payload_bytes)
       select id, 'memory', 0 from outbox_event where id = any ($1::uuid[])`,
      [done],
    );
    await scene.deliver();
    expect(scene.sent(done)).toEqual([...done, ...done]);
    expect(await scene.shipped(done)).toEqual(done);
  });
});
