import type { InjectionToken, Provider } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { outboxToken, type ResolvedOptions } from './config/index.js';
import {
  BacklogService,
  BlockedKeyService,
  DeadLetterService,
  DestinationService,
  OperationLogService,
  OutboxGauges,
  OutboxHealthService,
  PartitionService,
  partitionServiceOn,
  ReplayService,
  RetentionLoop,
  RetentionService,
  retentionServiceOn,
} from './ops/index.js';
import type { Signal } from './runtime/index.js';
import {
  DataSourceClient,
  type OutboxNames,
  PostgresBacklogStore,
  PostgresBlockedKeyStore,
  PostgresDeadLetterStore,
  PostgresDestinationStore,
  PostgresOperationStore,
  PostgresReplayStore,
} from './store/index.js';
import type { OutboxTelemetry } from './telemetry/index.js';

/** The services with which people see and mend an outbox. */
export const OPERATING_SERVICES = [
  BacklogService,
  BlockedKeyService,
  DeadLetterService,
  DestinationService,
  OperationLogService,
  OutboxHealthService,
  PartitionService,
  ReplayService,
  RetentionService,
] as const;

/** What the module has for its other providers, by the tokens that only it knows. */
export interface ModuleTokens {
  readonly OPTIONS: symbol;
  readonly NAMES: symbol;
  readonly EMITTED: symbol;
  readonly TELEMETRY: symbol;
}

/** Providers of the operating services of one outbox. */
export function operatingProviders(
  dataSource: InjectionToken,
  { OPTIONS, NAMES, EMITTED, TELEMETRY }: ModuleTokens,
): Provider[] {
  return [
    {
      provide: OutboxGauges,
      useFactory: (backlog: BacklogService, { destinations }: ResolvedOptions, telemetry: OutboxTelemetry) =>
        new OutboxGauges(backlog, [...destinations.keys()], telemetry),
      inject: [outboxToken(BacklogService, dataSource), OPTIONS, TELEMETRY],
    },
    {
      provide: outboxToken(BacklogService, dataSource),
      useFactory: (source: DataSource, names: OutboxNames) =>
        new BacklogService(new PostgresBacklogStore(new DataSourceClient(source), names)),
      inject: [dataSource, NAMES],
    },
    {
      provide: outboxToken(DeadLetterService, dataSource),
      useFactory: (source: DataSource, names: OutboxNames, emitted: Signal<string>) =>
        new DeadLetterService(new PostgresDeadLetterStore(new DataSourceClient(source), names), emitted),
      inject: [dataSource, NAMES, EMITTED],
    },
    {
      provide: outboxToken(BlockedKeyService, dataSource),
      useFactory: (source: DataSource, names: OutboxNames, emitted: Signal<string>) =>
        new BlockedKeyService(new PostgresBlockedKeyStore(new DataSourceClient(source), names), emitted),
      inject: [dataSource, NAMES, EMITTED],
    },
    {
      provide: outboxToken(DestinationService, dataSource),
      useFactory: (source: DataSource, names: OutboxNames, options: ResolvedOptions, emitted: Signal<string>) =>
        new DestinationService(
          new PostgresDestinationStore(new DataSourceClient(source), names),
          [...options.destinations.keys()],
          emitted,
        ),
      inject: [dataSource, NAMES, OPTIONS, EMITTED],
    },
    {
      provide: outboxToken(OutboxHealthService, dataSource),
      useFactory: (source: DataSource, names: OutboxNames, options: ResolvedOptions) =>
        new OutboxHealthService(new PostgresBacklogStore(new DataSourceClient(source), names), [
          ...options.destinations.keys(),
        ]),
      inject: [dataSource, NAMES, OPTIONS],
    },
    {
      provide: outboxToken(OperationLogService, dataSource),
      useFactory: (source: DataSource, names: OutboxNames) =>
        new OperationLogService(new PostgresOperationStore(new DataSourceClient(source), names)),
      inject: [dataSource, NAMES],
    },
    {
      provide: outboxToken(ReplayService, dataSource),
      useFactory: (source: DataSource, names: OutboxNames, emitted: Signal<string>) =>
        new ReplayService(new PostgresReplayStore(new DataSourceClient(source), names), emitted),
      inject: [dataSource, NAMES, EMITTED],
    },
    {
      provide: outboxToken(RetentionService, dataSource),
      useFactory: retentionServiceOn,
      inject: [dataSource, NAMES, outboxToken(PartitionService, dataSource)],
    },
    {
      provide: outboxToken(PartitionService, dataSource),
      useFactory: partitionServiceOn,
      inject: [dataSource, NAMES],
    },
    {
      provide: RetentionLoop,
      useFactory: (retention: RetentionService, { retention: policy, dispatcher }: ResolvedOptions) =>
        new RetentionLoop(retention, dispatcher.enabled ? policy : undefined),
      inject: [outboxToken(RetentionService, dataSource), OPTIONS],
    },
  ];
}
