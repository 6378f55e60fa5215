import type { DataSource } from 'typeorm';
import type { ResolvedOptions } from '../config/index.js';
import { describeError } from '../errors/index.js';
import {
  BacklogService,
  BlockedKeyService,
  DeadLetterService,
  DestinationService,
  OperationLogService,
  ReplayService,
  type RetentionService,
  retentionServiceOn,
} from '../ops/index.js';
import { Signal } from '../runtime/index.js';
import {
  DatabaseInspection,
  DataSourceClient,
  notifyDestinations,
  type OutboxNames,
  PostgresBacklogStore,
  PostgresBlockedKeyStore,
  PostgresDeadLetterStore,
  PostgresDestinationStore,
  PostgresOperationStore,
  PostgresReplayStore,
  wakeUpChannel,
} from '../store/index.js';

/** The services of an outbox without its application. */
export interface OutboxServices {
  readonly backlog: BacklogService;
  readonly deadLetters: DeadLetterService;
  readonly blockedKeys: BlockedKeyService;
  readonly destinations: DestinationService;
  readonly operations: OperationLogService;
  readonly replays: ReplayService;
  readonly retention: RetentionService;
  readonly database: DatabaseInspection;
  /** Resolves when the dispatchers have been told of what they have to do, or could not be. */
  settle(): Promise<void>;
}

export function outboxServices(
  dataSource: DataSource,
  names: OutboxNames,
  options: ResolvedOptions | undefined,
  say: (text: string) => void,
): OutboxServices {
  const client = new DataSourceClient(dataSource);
  const announced = new Set<string>();
  const emitted = new Signal<string>((error) => say(describeError(error)));
  emitted.subscribe((destination) => announced.add(destination));
  return {
    backlog: new BacklogService(new PostgresBacklogStore(client, names)),
    deadLetters: new DeadLetterService(new PostgresDeadLetterStore(client, names), emitted),
    blockedKeys: new BlockedKeyService(new PostgresBlockedKeyStore(client, names), emitted),
    destinations: new DestinationService(
      new PostgresDestinationStore(client, names),
      [...(options?.destinations.keys() ?? [])],
      emitted,
    ),
    operations: new OperationLogService(new PostgresOperationStore(client, names)),
    replays: new ReplayService(new PostgresReplayStore(client, names), emitted),
    retention: retentionServiceOn(dataSource, names),
    database: new DatabaseInspection(dataSource),
    async settle() {
      if (announced.size === 0) return;
      await notifyDestinations(client, wakeUpChannel(names), [...announced]).catch((error: unknown) =>
        say(`The dispatchers were not woken (${describeError(error)}); they find the events at their next poll.`),
      );
    },
  };
}
