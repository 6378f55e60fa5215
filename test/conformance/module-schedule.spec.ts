import { randomUUID } from 'node:crypto';
import { type DynamicModule } from '@nestjs/common';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import type { TestingModule } from '@nestjs/testing';
import { getDataSourceToken } from '@nestjs/typeorm';
import { type DispatcherOptions, OutboxDispatcher, OutboxModule, OutboxService } from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ClaimWatch, watchClaims } from '../support/claim-watch.js';
import type { TestDatabase } from '../support/database.js';
import { ModuleHarness, outboxOptions } from '../support/module-harness.js';
import { noted } from '../support/outbox-app.js';

const LEDGER = getDataSourceToken('ledger');

describe('the schedule of the dispatcher', () => {
  const harness = new ModuleHarness();
  let database: TestDatabase;
  let transport: MemoryTransport;
  let watch: ClaimWatch;
  beforeEach(async () => {
    transport = new MemoryTransport();
    database = await harness.database();
    watch = watchClaims();
  });
  afterEach(async () => {
    await harness.end();
    watch.stop();
  });

  const start = async (dispatcher: DispatcherOptions, imports: DynamicModule[] = []): Promise<TestingModule> =>
    harness.start({
      imports: [
        ...imports,
        await harness.typeOrm(database),
        OutboxModule.forRoot(outboxOptions(transport, { dispatcher: { wakeUp: false, ...dispatcher } })),
      ],
    });
  const emit = (module: TestingModule): Promise<string[]> => {
    const outbox = module.get(OutboxService);
    return outbox.transaction(() => outbox.emit(noted(randomUUID())));
  };
  /** Written by somebody of whom this process does not know: no wake-up comes with it. */
  const emitElsewhere = async (): Promise<void> => {
    const elsewhere = await harness.start({
      imports: [
        await harness.typeOrm(database),
        OutboxModule.forRoot(outboxOptions(new MemoryTransport(), { dispatcher: { enabled: false, wakeUp: false } })),
      ],
    });
    await emit(elsewhere);
  };

  it('without ScheduleModule the loop polls and delivers what others wrote', async () => {
    await start({ schedule: 'loop', pollIntervalMs: 20 });
    await emitElsewhere();
    expect(await transport.waitForCount(1, 10_000)).toHaveLength(1);
  });

  it('with ScheduleModule the loop is listed as "outbox-dispatcher", and is taken out by the dispatcher when it stops', async () => {
    const module = await start({ schedule: 'loop', pollIntervalMs: 20 }, [ScheduleModule.forRoot()]);
    const registry = module.get(SchedulerRegistry);
    expect(registry.getIntervals()).toEqual(['outbox-dispatcher']);
    await emitElsewhere();
    await transport.waitForCount(1, 10_000);
    await module.get(OutboxDispatcher).onModuleDestroy();
    expect(registry.getIntervals()).toEqual([]);
  });

  it('an application that removes it from the registry stops the polling, and still shuts down', async () => {
    const module = await start({ schedule: 'loop', pollIntervalMs: 20 }, [ScheduleModule.forRoot()]);
    await watch.moreThan(2);
    module.get(SchedulerRegistry).deleteInterval('outbox-dispatcher');
    await watch.quiet();
    await emitElsewhere();
    const [found] = await database.query('select attempts from outbox_delivery');
    expect(found).toEqual({ attempts: 0 });
    await module.close();
  });

  it('a cron expression drains at its times, and is listed as "outbox-dispatcher"', async () => {
    const module = await start({ schedule: '* * * * * *' }, [ScheduleModule.forRoot()]);
    const registry = module.get(SchedulerRegistry);
    expect([...registry.getCronJobs().keys()]).toEqual(['outbox-dispatcher']);
    await emit(module);
    await transport.waitForCount(1, 10_000);
    await module.get(OutboxDispatcher).onModuleDestroy();
    expect([...registry.getCronJobs().keys()]).toEqual([]);
  });

  it('a cron expression drains also without ScheduleModule', async () => {
    const module = await start({ schedule: '* * * * * *' });
    await emit(module);
    expect(await transport.waitForCount(1, 10_000)).toHaveLength(1);
  });

  it.each([['every second'], ['61 * * * * *'], ['']])(
    '"%s" is refused at start as no cron expression',
    async (schedule) => {
      const started = start({ schedule }, [ScheduleModule.forRoot()]);
      await expect(started).rejects.toMatchObject({ code: 'OUTBOX_CONFIGURATION' });
      await expect(started).rejects.toThrow(`"dispatcher.schedule" is "${schedule}", which is no cron expression`);
    },
  );

  it('two outboxes are listed under names of their own', async () => {
    const ledger = await harness.database();
    const options = { dispatcher: { schedule: 'loop' } } as const;
    const module = await harness.start({
      imports: [
        ScheduleModule.forRoot(),
        await harness.typeOrm(database),
        await harness.typeOrm(ledger, { name: 'ledger' }),
        OutboxModule.forRoot(outboxOptions(transport, options)),
        OutboxModule.forRoot({ dataSource: LEDGER, ...outboxOptions(transport, options) }),
      ],
    });
    expect(module.get(SchedulerRegistry).getIntervals().toSorted()).toEqual([
      'outbox-dispatcher',
      'outbox-dispatcher:ledgerDataSource',
    ]);
  });

  it('without a schedule nothing is claimed until asked for', async () => {
    const module = await start({ schedule: false }, [ScheduleModule.forRoot()]);
    expect(module.get(SchedulerRegistry).getIntervals()).toEqual([]);
    // Time enough for a loop, which would have been woken by each of them.
    for (let count = 0; count < 20; count += 1) await emit(module);
    expect(watch.claims).toBe(0);
    expect(await module.get(OutboxDispatcher).dispatchOnce()).toMatchObject({ delivered: 20 });
  });
});
