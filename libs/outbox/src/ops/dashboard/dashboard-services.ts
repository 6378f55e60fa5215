import type { InboxBacklogService, ParkedMessageService } from '../../inbox/index.js';
import type {
  BacklogService,
  BlockedKeyService,
  DeadLetterService,
  DestinationService,
  OperationLogService,
  OutboxHealthService,
  ReplayService,
} from '../index.js';

/** What the dashboard shows and does is done by these; it has no way of its own to the tables. */
export interface DashboardServices {
  readonly backlog: BacklogService;
  readonly destinations: DestinationService;
  readonly deadLetters: DeadLetterService;
  readonly blockedKeys: BlockedKeyService;
  readonly replays: ReplayService;
  readonly operations: OperationLogService;
  readonly health: OutboxHealthService;
  /** Undefined in an application without an InboxModule. */
  readonly inbox: { readonly backlog: InboxBacklogService; readonly parked: ParkedMessageService } | undefined;
}

/** Tokens inside of the module; each dynamic module has its own instances. */
export const SERVICES = Symbol('OutboxDashboardModule:services');
export const OPTIONS = Symbol('OutboxDashboardModule:options');
