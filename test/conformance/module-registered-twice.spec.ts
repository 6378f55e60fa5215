import { type DynamicModule, Module } from '@nestjs/common';
import { OutboxModule, type OutboxModuleOptions } from 'nestjs-transactional-outbox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { ModuleHarness, outboxOptions } from '../support/module-harness.js';
import { OrderNoted } from '../support/outbox-app.js';

@Module({})
class Billing {}

@Module({})
class Shipping {}

const feature = (module: typeof Billing, outbox: DynamicModule): DynamicModule => ({ module, imports: [outbox] });

const asynchronous = (options: OutboxModuleOptions): DynamicModule =>
  OutboxModule.forRootAsync({ useFactory: () => options });

const same = outboxOptions();
const other = outboxOptions(undefined, { routes: [{ events: [OrderNoted], to: ['memory'] }] });

describe('OutboxModule registered twice', () => {
  const harness = new ModuleHarness();
  let database: TestDatabase;
  beforeEach(async () => {
    database = await harness.database();
  });
  afterEach(() => harness.end());

  it.each<[string, () => DynamicModule[]]>([
    ['with the same options', () => [OutboxModule.forRoot(same), OutboxModule.forRoot(same)]],
    ['with different options', () => [OutboxModule.forRoot(same), OutboxModule.forRoot(other)]],
    ['by forRoot and forRootAsync', () => [OutboxModule.forRoot(same), asynchronous(same)]],
    [
      'by two feature modules',
      () => [feature(Billing, OutboxModule.forRoot(same)), feature(Shipping, OutboxModule.forRoot(same))],
    ],
    [
      'by two feature modules, not global',
      () => [
        feature(Billing, OutboxModule.forRoot({ isGlobal: false, ...same })),
        feature(Shipping, OutboxModule.forRoot({ isGlobal: false, ...other })),
      ],
    ],
  ])('%s is refused at start, with what to do about it', async (_how, twice) => {
    const started = harness.start({ imports: [await harness.typeOrm(database), ...twice()] });
    await expect(started).rejects.toMatchObject({ code: 'OUTBOX_CONFIGURATION' });
    await expect(started).rejects.toThrow(
      /OutboxModule is registered twice for "public"\."outbox_event".*Import OutboxModule\.forRoot\(\) once, in the root module/,
    );
  });

  it('for everybody, with tables in two schemas, is refused: only one of them could be injected', async () => {
    const started = harness.start({
      imports: [
        await harness.typeOrm(database),
        OutboxModule.forRoot(outboxOptions(undefined, { schema: 'billing' })),
        OutboxModule.forRoot(outboxOptions(undefined, { schema: 'shipping' })),
      ],
    });
    await expect(started).rejects.toThrow(/OutboxModule is registered twice for .*the default DataSource/);
  });

  it('is registered once when one dynamic module is imported in two places', async () => {
    const once = OutboxModule.forRoot(same);
    const module = await harness.start({
      imports: [await harness.typeOrm(database), feature(Billing, once), feature(Shipping, once)],
    });
    await module.close();
  });

  it('may be registered again, on the same DataSource, by the next application of the process', async () => {
    const typeOrm = await harness.typeOrm(database);
    for (let round = 0; round < 2; round += 1) {
      const module = await harness.start({ imports: [typeOrm, OutboxModule.forRoot(same)] });
      await module.close();
    }
  });
});
