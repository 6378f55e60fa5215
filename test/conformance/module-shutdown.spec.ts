import { randomUUID } from 'node:crypto';
import { ScheduleModule } from '@nestjs/schedule';
import { type DispatcherOptions, OutboxModule, OutboxService } from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { ModuleHarness, outboxOptions } from '../support/module-harness.js';
import { noted } from '../support/outbox-app.js';

describe('the end of an application', () => {
  const harness = new ModuleHarness();
  let database: TestDatabase;
  beforeEach(async () => {
    database = await harness.database();
  });
  afterEach(() => harness.end());

  const sessions = async (): Promise<unknown[]> => {
    const rows = await database.query(
      `select distinct application_name as name from pg_stat_activity
        where datname = current_database() and application_name like 'shop%' order by 1`,
    );
    return rows.map(({ name }) => name);
  };

  const run = async (dispatcher: DispatcherOptions) => {
    const transport = new MemoryTransport();
    const module = await harness.start({
      imports: [
        ScheduleModule.forRoot(),
        await harness.typeOrm(database, { applicationName: 'shop' }),
        OutboxModule.forRoot(outboxOptions(transport, { dispatcher })),
      ],
    });
    const outbox = module.get(OutboxService);
    await outbox.transaction(() => outbox.emit(noted(randomUUID())));
    return { module, transport };
  };

  it('leaves no connection behind: not of the application, of its dispatcher, nor of its wake-ups', async () => {
    const { module, transport } = await run({ schedule: 'loop' });
    await transport.waitForCount(1, 10_000);
    await eventually(async () => expect(await sessions()).toEqual(['shop', 'shop:outbox', 'shop:outbox-listen']));
    await module.close();
    // A server process outlives the connection by a moment.
    await eventually(async () => expect(await sessions()).toEqual([]));
  });

  it('leaves none behind of a process that only emits and notifies', async () => {
    const { module } = await run({ enabled: false, schedule: false });
    expect(await sessions()).toEqual(['shop']);
    await module.close();
    await eventually(async () => expect(await sessions()).toEqual([]));
  });

  it('leaves none behind when the start failed', async () => {
    const failed = run({ schedule: 'no cron expression' });
    await expect(failed).rejects.toThrow('which is no cron expression');
    await harness.endApplications();
    await eventually(async () => expect(await sessions()).toEqual([]));
  });

  it('may come twice', async () => {
    const { module } = await run({ schedule: 'loop' });
    await module.close();
    await module.close();
  });
});
