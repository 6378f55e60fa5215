import {
  ConfigurableModuleBuilder,
  Inject,
  type InjectionToken,
  Logger,
  Module,
  type Provider,
  type Type,
} from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, ModuleRef } from '@nestjs/core';
import { DataSource } from 'typeorm';
import {
  nameOfToken,
  type OutboxModuleExtras,
  type OutboxModuleOptions,
  outboxToken,
  type ResolvedOptions,
  resolveOptions,
} from './config/index.js';
import { OutboxDispatcher } from './dispatch/index.js';
import { EmitsEventExplorer, OutboxService, SilentChangeDetector } from './emit/index.js';
import { describeError } from './errors/index.js';
import { OPERATING_SERVICES, operatingProviders } from './operating-providers.js';
import { OutboxStarter } from './outbox-starter.js';
import { logLine, Signal } from './runtime/index.js';
import { type OutboxNames, outboxNames, PostgresEventStore } from './store/index.js';
import { OutboxTelemetry } from './telemetry/index.js';
import { TransactionContext } from './transaction/index.js';

/** Providers that stay inside the module; each dynamic module has its own. */
const OPTIONS = Symbol('OutboxModule:options');
const NAMES = Symbol('OutboxModule:names');
const CONTEXT = Symbol('OutboxModule:transaction-context');
const EMITTED = Symbol('OutboxModule:emitted');
const DETECTOR = Symbol('OutboxModule:silent-change-detector');
const TELEMETRY = Symbol('OutboxModule:telemetry');

/** The services that an application may inject; those of a named DataSource through `getOutboxToken`. */
const EXPORTED = [OutboxService, OutboxDispatcher, ...OPERATING_SERVICES];

/** What a class given as `useClass` or `useExisting` has to implement. */
export interface OutboxOptionsFactory {
  createOutboxOptions(): OutboxModuleOptions | Promise<OutboxModuleOptions>;
}

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<OutboxModuleOptions>({
  moduleName: 'Outbox',
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createOutboxOptions')
  .setExtras<OutboxModuleExtras>(
    { isGlobal: true, dataSource: DataSource },
    (definition, { isGlobal, dataSource }) => ({
      ...definition,
      global: isGlobal ?? true,
      imports: [...(definition.imports ?? []), DiscoveryModule],
      providers: [...(definition.providers ?? []), ...providersFor(dataSource ?? DataSource, isGlobal ?? true)],
      exports: EXPORTED.map((service) => outboxToken<unknown>(service, dataSource)),
    }),
  )
  .build();

/**
 * The producing side: stores events in the caller's transaction and dispatches them. Import it once for each
 * DataSource that has an outbox.
 *
 * @see OutboxModuleOptions for what `forRoot` and the factories of `forRootAsync` take.
 */
@Module({})
export class OutboxModule extends ConfigurableModuleClass {}

/** Injects the OutboxService of the DataSource with this token; without one, that of the default DataSource. */
export function InjectOutbox(dataSource?: InjectionToken): ReturnType<typeof Inject> {
  return Inject(getOutboxToken(OutboxService, dataSource));
}

/** Token of a service of the outbox of a named DataSource, for `@Inject()` and `moduleRef.get()`. */
export function getOutboxToken<T>(service: Type<T>, dataSource?: InjectionToken): InjectionToken<T> {
  return outboxToken(service, dataSource);
}

function providersFor(dataSource: InjectionToken, isGlobal: boolean): Provider[] {
  const label = dataSource === DataSource ? 'the default DataSource' : `the DataSource "${nameOfToken(dataSource)}"`;
  const scheduleName = dataSource === DataSource ? 'outbox-dispatcher' : `outbox-dispatcher:${nameOfToken(dataSource)}`;
  return [
    { provide: OPTIONS, useFactory: resolveOptions, inject: [MODULE_OPTIONS_TOKEN] },
    {
      provide: NAMES,
      useFactory: ({ schema, tables }: ResolvedOptions) => outboxNames(schema, tables),
      inject: [OPTIONS],
    },
    {
      provide: TELEMETRY,
      useFactory: () => new OutboxTelemetry(dataSource === DataSource ? undefined : nameOfToken(dataSource)),
    },
    {
      provide: EMITTED,
      useFactory: () =>
        new Signal<string>((error) =>
          new Logger('OutboxWakeUp').error(logLine('wake-up failed, going on', { error: describeError(error) })),
        ),
    },
    {
      provide: CONTEXT,
      useFactory: (source: DataSource, { currentManager }: ResolvedOptions) =>
        new TransactionContext(source, label, currentManager),
      inject: [dataSource, OPTIONS],
    },
    {
      provide: OutboxStarter,
      useFactory: (source: DataSource, names: OutboxNames, options: ResolvedOptions) =>
        new OutboxStarter(source, names, options, isGlobal ? label : undefined),
      inject: [dataSource, NAMES, OPTIONS],
    },
    {
      provide: EmitsEventExplorer,
      useFactory: (discovery: DiscoveryService, options: ResolvedOptions) =>
        new EmitsEventExplorer(discovery, options, dataSource),
      inject: [DiscoveryService, OPTIONS],
    },
    {
      provide: DETECTOR,
      useFactory: (source: DataSource, { expectEventsFor }: ResolvedOptions) => {
        if (expectEventsFor.length === 0) return undefined;
        const detector = new SilentChangeDetector(source, expectEventsFor, new Logger('OutboxDetector'));
        detector.start();
        return detector;
      },
      inject: [dataSource, OPTIONS],
    },
    {
      provide: outboxToken(OutboxService, dataSource),
      useFactory: (
        context: TransactionContext,
        names: OutboxNames,
        options: ResolvedOptions,
        emitted: Signal<string>,
        detector: SilentChangeDetector | undefined,
        telemetry: OutboxTelemetry,
      ) => new OutboxService(context, new PostgresEventStore(names, options), options, emitted, detector, telemetry),
      inject: [CONTEXT, NAMES, OPTIONS, EMITTED, DETECTOR, TELEMETRY],
    },
    {
      provide: outboxToken(OutboxDispatcher, dataSource),
      useFactory: (
        source: DataSource,
        names: OutboxNames,
        options: ResolvedOptions,
        emitted: Signal<string>,
        moduleRef: ModuleRef,
        telemetry: OutboxTelemetry,
      ) => new OutboxDispatcher({ dataSource: source, names, options, emitted, moduleRef, telemetry, scheduleName }),
      inject: [dataSource, NAMES, OPTIONS, EMITTED, ModuleRef, TELEMETRY],
    },
    ...operatingProviders(dataSource, { OPTIONS, NAMES, EMITTED, TELEMETRY }),
  ];
}
