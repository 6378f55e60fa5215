import { randomUUID } from 'node:crypto';
import { type DynamicModule, Injectable, Module, type ModuleMetadata } from '@nestjs/common';
import {
  BacklogService,
  BlockedKeyService,
  DeadLetterService,
  DestinationService,
  getOutboxToken,
  InjectOutbox,
  OperationLogService,
  OutboxDispatcher,
  OutboxHealthService,
  OutboxModule,
  type OutboxModuleOptions,
  type OutboxOptionsFactory,
  OutboxService,
  PartitionService,
  ReplayService,
  RetentionService,
} from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { ModuleHarness, outboxOptions } from '../support/module-harness.js';
import { noted } from '../support/outbox-app.js';

/** Knows the transport, as a configuration service of the application knows addresses. */
@Injectable()
class Settings {
  static transport = new MemoryTransport();
  readonly options: OutboxModuleOptions = outboxOptions(Settings.transport);
}

@Module({ providers: [Settings], exports: [Settings] })
class SettingsModule {}

@Injectable()
class OptionsFactory implements OutboxOptionsFactory {
  async createOutboxOptions(): Promise<OutboxModuleOptions> {
    return outboxOptions(Settings.transport);
  }
}

@Injectable()
class FactoryWithDependency implements OutboxOptionsFactory {
  constructor(private readonly settings: Settings) {}

  createOutboxOptions(): OutboxModuleOptions {
    return this.settings.options;
  }
}

@Module({ imports: [SettingsModule], providers: [FactoryWithDependency], exports: [FactoryWithDependency] })
class FactoryModule {}

@Injectable()
class Emitter {
  constructor(
    readonly outbox: OutboxService,
    @InjectOutbox() readonly injected: OutboxService,
  ) {}
}

@Module({ providers: [Emitter], exports: [Emitter] })
class FeatureModule {}

function featureModule(imports: NonNullable<ModuleMetadata['imports']>): DynamicModule {
  return { module: class Feature {}, imports, providers: [Emitter], exports: [Emitter] };
}

const WAYS: [string, () => DynamicModule][] = [
  ['forRoot', () => OutboxModule.forRoot(outboxOptions(Settings.transport))],
  [
    'forRootAsync with a factory and what it injects',
    () =>
      OutboxModule.forRootAsync({
        imports: [SettingsModule],
        inject: [Settings],
        useFactory: async ({ options }: Settings) => options,
      }),
  ],
  ['forRootAsync with useClass', () => OutboxModule.forRootAsync({ useClass: OptionsFactory })],
  [
    'forRootAsync with useClass, its dependencies imported',
    () => OutboxModule.forRootAsync({ imports: [SettingsModule], useClass: FactoryWithDependency }),
  ],
  [
    'forRootAsync with useExisting',
    () => OutboxModule.forRootAsync({ imports: [FactoryModule], useExisting: FactoryWithDependency }),
  ],
];

describe('OutboxModule', () => {
  const harness = new ModuleHarness();
  let database: TestDatabase;
  beforeEach(async () => {
    Settings.transport = new MemoryTransport();
    database = await harness.database();
  });
  afterEach(() => harness.end());

  const emitAndDrain = async (outbox: OutboxService, dispatcher: OutboxDispatcher): Promise<void> => {
    const [id] = await outbox.transaction(() => outbox.emit(noted(randomUUID())));
    await dispatcher.drain();
    expect(Settings.transport.accepted.map(({ envelope }) => envelope.id)).toEqual([id]);
  };

  it.each(WAYS)('registered by %s serves modules that do not import it', async (_way, outbox) => {
    const module = await harness.start({ imports: [await harness.typeOrm(database), outbox(), FeatureModule] });
    const emitter = module.get(Emitter, { strict: false });
    expect(emitter.injected).toBe(emitter.outbox);
    expect(module.get(getOutboxToken(OutboxService))).toBe(emitter.outbox);
    await emitAndDrain(emitter.outbox, module.get(OutboxDispatcher));
  });

  it.each<[string, () => DynamicModule]>([
    ['forRoot', () => OutboxModule.forRoot({ isGlobal: false, ...outboxOptions(Settings.transport) })],
    ['forRootAsync', () => OutboxModule.forRootAsync({ isGlobal: false, useClass: OptionsFactory })],
  ])('that is not global (%s) serves the module that imports it, and no other', async (_way, makeOutbox) => {
    const outbox = makeOutbox();
    const typeOrm = await harness.typeOrm(database);
    const module = await harness.start({ imports: [typeOrm, featureModule([outbox])] });
    await emitAndDrain(module.get(Emitter, { strict: false }).outbox, module.get(OutboxDispatcher, { strict: false }));
    await module.close();

    const other = harness.start({ imports: [await harness.typeOrm(database), makeOutbox(), featureModule([])] });
    await expect(other).rejects.toThrow(/can't resolve dependencies of the Emitter.*OutboxService/);
  });

  it('without a DataSource is refused by the name of what is missing', async () => {
    const started = harness.start({ imports: [OutboxModule.forRoot(outboxOptions())] });
    await expect(started).rejects.toThrow(/DataSource/);
  });

  it('with a factory that answers nothing says what it needs', async () => {
    const nothing = (): OutboxModuleOptions => undefined as unknown as OutboxModuleOptions;
    const started = harness.start({
      imports: [await harness.typeOrm(database), OutboxModule.forRootAsync({ useFactory: nothing })],
    });
    await expect(started).rejects.toThrow('OutboxModule got no options. Give it at least { destinations, routes }.');
  });

  it('exports the services that applications use, and nothing else', () => {
    const exported: unknown[] = OutboxModule.forRoot(outboxOptions()).exports ?? [];
    expect(exported).toEqual([
      OutboxService,
      OutboxDispatcher,
      BacklogService,
      BlockedKeyService,
      DeadLetterService,
      DestinationService,
      OperationLogService,
      OutboxHealthService,
      PartitionService,
      ReplayService,
      RetentionService,
    ]);
  });
});
