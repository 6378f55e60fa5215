import { type DynamicModule, type InjectionToken, Module, type Provider } from '@nestjs/common';
import { outboxToken } from '../../config/index.js';
import { InboxBacklogService, ParkedMessageService } from '../../inbox/index.js';
import {
  BacklogService,
  BlockedKeyService,
  DeadLetterService,
  DestinationService,
  OperationLogService,
  OutboxHealthService,
  ReplayService,
} from '../index.js';
import { DashboardFigures } from './dashboard-figures.js';
import { DashboardHistory } from './dashboard-history.js';
import type { OutboxDashboardOptions, ResolvedDashboardOptions } from './dashboard-options.js';
import { type DashboardServices, OPTIONS, SERVICES } from './dashboard-services.js';
import { controllersAt } from './http/controllers.js';
import { Operator } from './http/operator.js';
import { Replies } from './http/replies.js';
import { SameOriginGuard } from './http/same-origin.guard.js';
import { PageFiles } from './page-files.js';
import { ReplayRun } from './replay-run.js';
import { resolveDashboardOptions } from './resolve-dashboard-options.js';

/**
 * One page in the application itself, on Express or Fastify: whether events flow, and what to do when they do not. It needs an
 * OutboxModule, shows an InboxModule where there is one, and asks nobody but the application.
 */
@Module({})
// biome-ignore lint/complexity/noStaticOnlyClass: Nest knows a module by its class.
export class OutboxDashboardModule {
  /** @throws ConfigurationError without a guard outside of development, and for options that make no sense. */
  static forRoot(options: OutboxDashboardOptions): DynamicModule {
    const resolved = resolveDashboardOptions(options);
    return {
      module: OutboxDashboardModule,
      imports: [...(options.imports ?? [])],
      controllers: controllersAt(resolved.path, options.guards ?? []),
      providers: [
        { provide: OPTIONS, useValue: resolved },
        servicesOf(options),
        {
          provide: DashboardFigures,
          useFactory: (services: DashboardServices, limits: ResolvedDashboardOptions) =>
            new DashboardFigures(services, limits),
          inject: [SERVICES, OPTIONS],
        },
        {
          provide: DashboardHistory,
          useFactory: (figures: DashboardFigures) => new DashboardHistory(figures, resolved.sampleEveryMs),
          inject: [DashboardFigures],
        },
        {
          provide: ReplayRun,
          useFactory: ({ replays }: DashboardServices) => new ReplayRun(replays),
          inject: [SERVICES],
        },
        PageFiles,
        Operator,
        Replies,
        SameOriginGuard,
      ],
    };
  }
}

function servicesOf({ dataSource, inboxDataSource = dataSource }: OutboxDashboardOptions): Provider {
  const optional = (token: InjectionToken) => ({ token, optional: true });
  return {
    provide: SERVICES,
    useFactory: (
      backlog: BacklogService,
      destinations: DestinationService,
      deadLetters: DeadLetterService,
      blockedKeys: BlockedKeyService,
      replays: ReplayService,
      operations: OperationLogService,
      health: OutboxHealthService,
      inboxBacklog: InboxBacklogService | undefined,
      parked: ParkedMessageService | undefined,
    ): DashboardServices => ({
      backlog,
      destinations,
      deadLetters,
      blockedKeys,
      replays,
      operations,
      health,
      inbox: inboxBacklog === undefined || parked === undefined ? undefined : { backlog: inboxBacklog, parked },
    }),
    inject: [
      outboxToken(BacklogService, dataSource),
      outboxToken(DestinationService, dataSource),
      outboxToken(DeadLetterService, dataSource),
      outboxToken(BlockedKeyService, dataSource),
      outboxToken(ReplayService, dataSource),
      outboxToken(OperationLogService, dataSource),
      outboxToken(OutboxHealthService, dataSource),
      optional(outboxToken(InboxBacklogService, inboxDataSource)),
      optional(outboxToken(ParkedMessageService, inboxDataSource)),
    ],
  };
}
