import {
  ConfigurableModuleBuilder,
  Inject,
  type InjectionToken,
  Module,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import {
  DiscoveryModule,
  DiscoveryService,
  ExternalContextCreator,
  HttpAdapterHost,
  MetadataScanner,
  ModulesContainer,
} from '@nestjs/core';
import { DataSource } from 'typeorm';
import { nameOfToken, outboxToken } from './config/index.js';
import { EVENT_HANDLERS } from './event/index.js';
import {
  BrokerProtocol,
  FailedMessages,
  GolevelupProtocol,
  HandlerCaller,
  HttpProtocol,
  type InboundProtocol,
  InboxBacklogService,
  InboxEntrance,
  InboxHandlers,
  type InboxModuleExtras,
  type InboxModuleOptions,
  InboxRetentionLoop,
  InboxRetentionService,
  InboxService,
  InProcessHandlers,
  inProcessSource,
  kafkaSource,
  natsSource,
  ParkedMessageService,
  parkedSource,
  type ResolvedInboxOptions,
  rabbitmqSource,
  redisSource,
  refuseUnsafeServers,
  refuseUnsafeSubscribers,
  resolveInboxOptions,
  settlingSource,
  tcpSource,
  WebhookVerifier,
  warnAboutBodyParser,
} from './inbox/index.js';
import { systemRandom } from './runtime/index.js';
import { ensureSchema, type InboxDatabase, inboxDatabaseOf } from './store/index.js';
import { InboxTelemetry } from './telemetry/index.js';
import { TransactionContext } from './transaction/index.js';

/** Providers that stay inside the module; each dynamic module has its own. */
const OPTIONS = Symbol('InboxModule:options');
const DATA_SOURCE = Symbol('InboxModule:data-source');
const DATABASE = Symbol('InboxModule:database');

const SOURCES = [
  inProcessSource,
  settlingSource,
  rabbitmqSource,
  kafkaSource,
  natsSource,
  redisSource,
  tcpSource,
  parkedSource,
];

/** What a class given as `useClass` or `useExisting` has to implement. */
export interface InboxOptionsFactory {
  createInboxOptions(): InboxModuleOptions | Promise<InboxModuleOptions>;
}

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<InboxModuleOptions>({
  moduleName: 'Inbox',
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createInboxOptions')
  .setExtras<InboxModuleExtras>({ isGlobal: true, dataSource: DataSource }, (definition, { isGlobal, dataSource }) => ({
    ...definition,
    global: isGlobal,
    imports: [...(definition.imports ?? []), DiscoveryModule],
    providers: [...(definition.providers ?? []), ...providersFor(dataSource ?? DataSource)],
    exports: [InboxService, InboxBacklogService, InboxRetentionService, ParkedMessageService].map((service) =>
      outboxToken(service, dataSource),
    ),
  }))
  .build();

/**
 * The consuming side: every handler with InboxGuard processes an event once. Import it once for each DataSource that
 * has an inbox, in a module that is there when the application starts.
 *
 * @see InboxModuleOptions for what `forRoot` and the factories of `forRootAsync` take.
 */
@Module({})
export class InboxModule extends ConfigurableModuleClass implements OnModuleInit {
  constructor(
    @Inject(InboxHandlers) private readonly handlers: InboxHandlers,
    @Inject(DATA_SOURCE) private readonly dataSource: DataSource,
    @Inject(DATABASE) private readonly database: InboxDatabase,
    @Inject(OPTIONS) private readonly options: ResolvedInboxOptions,
    @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
    @Inject(ModulesContainer) private readonly modules: ModulesContainer,
    @Inject(InboxTelemetry) private readonly telemetry: InboxTelemetry,
  ) {
    super();
    handlers.putInterceptors();
  }

  /** Nothing is served yet. @throws ConfigurationError, SchemaVersionError, DatabaseUnreachableError */
  async onModuleInit(): Promise<void> {
    this.handlers.takeHandlers();
    this.telemetry.beginAtZero(this.handlers.consumers);
    if (this.handlers.hasRoutes) warnAboutBodyParser(this.host);
    refuseUnsafeServers(this.modules, this.handlers.subscribed);
    refuseUnsafeSubscribers(this.modules, this.handlers.subscribed);
    await ensureSchema(this.dataSource, this.database.component, this.options.migrate);
  }
}

/** Injects the InboxService of the DataSource with this token; without one, that of the default DataSource. */
export function InjectInbox(dataSource?: InjectionToken): ReturnType<typeof Inject> {
  return Inject(outboxToken(InboxService, dataSource));
}

function providersFor(dataSource: InjectionToken): Provider[] {
  const label = dataSource === DataSource ? 'the default DataSource' : `the DataSource "${nameOfToken(dataSource)}"`;
  const service = outboxToken(InboxService, dataSource);
  return [
    { provide: OPTIONS, useFactory: resolveInboxOptions, inject: [MODULE_OPTIONS_TOKEN] },
    { provide: DATA_SOURCE, useExisting: dataSource },
    { provide: InboxTelemetry, useFactory: () => new InboxTelemetry() },
    {
      provide: DATABASE,
      useFactory: (source: DataSource, options: ResolvedInboxOptions) =>
        inboxDatabaseOf(source, options.tables, options),
      inject: [DATA_SOURCE, OPTIONS],
    },
    {
      provide: service,
      useFactory: (
        source: DataSource,
        { store }: InboxDatabase,
        options: ResolvedInboxOptions,
        telemetry: InboxTelemetry,
      ) => new InboxService(new TransactionContext(source, label, options.currentManager), store, options, telemetry),
      inject: [DATA_SOURCE, DATABASE, OPTIONS, InboxTelemetry],
    },
    {
      provide: outboxToken(InboxRetentionService, dataSource),
      useFactory: ({ retention }: InboxDatabase, { dedupeWindowMs }: ResolvedInboxOptions) =>
        new InboxRetentionService(retention, dedupeWindowMs),
      inject: [DATABASE, OPTIONS],
    },
    {
      provide: InboxRetentionLoop,
      useFactory: (service: InboxRetentionService, { retention }: ResolvedInboxOptions) =>
        new InboxRetentionLoop(service, retention),
      inject: [outboxToken(InboxRetentionService, dataSource), OPTIONS],
    },
    {
      provide: outboxToken(InboxBacklogService, dataSource),
      useFactory: ({ backlog }: InboxDatabase) => new InboxBacklogService(backlog),
      inject: [DATABASE],
    },
    {
      provide: InboxHandlers,
      useFactory: (discovery: DiscoveryService, scanner: MetadataScanner, { table }: InboxDatabase) =>
        new InboxHandlers(discovery, scanner, dataSource, table),
      inject: [DiscoveryService, MetadataScanner, DATABASE],
    },
    {
      provide: FailedMessages,
      useFactory: ({ failed }: InboxDatabase, options: ResolvedInboxOptions, telemetry: InboxTelemetry) =>
        new FailedMessages(failed, options, systemRandom, telemetry),
      inject: [DATABASE, OPTIONS, InboxTelemetry],
    },
    {
      provide: GolevelupProtocol, // a provider, because it has to hear that the application stops
      useFactory: (failures: FailedMessages) => new GolevelupProtocol(failures),
      inject: [FailedMessages],
    },
    {
      provide: InboxEntrance,
      useFactory: (
        handlers: InboxHandlers,
        inbox: InboxService,
        host: HttpAdapterHost,
        options: ResolvedInboxOptions,
        failures: FailedMessages,
        golevelup: GolevelupProtocol,
        telemetry: InboxTelemetry,
      ) => {
        const protocols = new Map<string, InboundProtocol>([
          ['http', new HttpProtocol(host, new WebhookVerifier(options), options)],
          ['rpc', new BrokerProtocol(SOURCES, failures)],
          ['rmq', golevelup],
        ]);
        return new InboxEntrance(handlers, inbox, protocols, telemetry);
      },
      inject: [InboxHandlers, service, HttpAdapterHost, OPTIONS, FailedMessages, GolevelupProtocol, InboxTelemetry],
    },
    {
      provide: HandlerCaller,
      useFactory: (creator: ExternalContextCreator, modules: ModulesContainer) => new HandlerCaller(creator, modules),
      inject: [ExternalContextCreator, ModulesContainer],
    },
    {
      provide: EVENT_HANDLERS,
      useFactory: (handlers: InboxHandlers, caller: HandlerCaller) => new InProcessHandlers(handlers, caller),
      inject: [InboxHandlers, HandlerCaller],
    },
    {
      provide: outboxToken(ParkedMessageService, dataSource),
      useFactory: ({ failed }: InboxDatabase, handlers: InboxHandlers, caller: HandlerCaller) =>
        new ParkedMessageService(failed, handlers, caller),
      inject: [DATABASE, InboxHandlers, HandlerCaller],
    },
  ];
}
