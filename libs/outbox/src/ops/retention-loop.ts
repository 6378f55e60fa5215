import { Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { ResolvedRetention } from '../config/index.js';
import { describeError } from '../errors/index.js';
import { logLine, Recurrence, systemRandom } from '../runtime/index.js';
import type { KeptPartition } from './partition.service.js';
import type { RetentionService } from './retention.service.js';

/** Enforces the retention by itself, from the start of the application to its end, and tells what is out of order. */
export class RetentionLoop implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('OutboxRetention');
  private readonly recurrence: Recurrence | undefined;
  /** What was told of each partition, so that it is told again only when it changes. */
  private told: ReadonlyMap<string, string> = new Map();

  /** @param policy undefined in a process that is to leave it to others. */
  constructor(
    private readonly retention: RetentionService,
    private readonly policy: ResolvedRetention | undefined,
  ) {
    if (policy === undefined) return;
    const events = {
      onFailed: (error: unknown) =>
        this.logger.error(logLine('retention failed, trying again', { error: describeError(error) })),
      onRecovered: () => this.logger.log('retention works again'),
    };
    this.recurrence = new Recurrence(policy.everyMs, (signal) => this.enforce(policy, signal), events, systemRandom);
  }

  onApplicationBootstrap(): void {
    for (const warning of this.policy?.warnings ?? []) this.logger.warn(warning);
    this.recurrence?.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.recurrence?.stop();
  }

  private async enforce(policy: ResolvedRetention, signal: AbortSignal): Promise<void> {
    const { partitions, yielded, deliveries, events } = await this.retention.enforce(policy, signal);
    const { made, dropped, moved } = partitions;
    if (deliveries + events + made.length + dropped.length > 0) {
      const counts = {
        deliveries,
        events,
        made: made.join() || undefined,
        dropped: dropped.join() || undefined,
        moved,
      };
      this.logger.log(logLine('retention', counts));
    }
    // Who stopped halfway has not seen everything.
    if (!yielded && !signal.aborted) this.tell([...partitions.kept, ...partitions.postponed]);
  }

  private tell(kept: readonly KeptPartition[]): void {
    for (const { name, reason } of kept) {
      if (this.told.get(name) !== reason) this.logger.warn(logLine('partition stays', { partition: name, reason }));
    }
    this.told = new Map(kept.map(({ name, reason }) => [name, reason]));
  }
}
