import { Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { describeError } from '../errors/index.js';
import { logLine, Recurrence, systemRandom } from '../runtime/index.js';
import type { InboxRetentionService } from './inbox-retention.service.js';
import type { ResolvedInboxRetention } from './resolve-inbox-options.js';

/** Prunes the inbox by itself, from the start of the application to its end. */
export class InboxRetentionLoop implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('InboxRetention');
  private readonly recurrence: Recurrence | undefined;

  /** @param options undefined where somebody else prunes. */
  constructor(
    private readonly retention: InboxRetentionService,
    options: ResolvedInboxRetention | undefined,
  ) {
    if (options === undefined) return;
    const events = {
      onFailed: (error: unknown) =>
        this.logger.error(logLine('retention failed, trying again', { error: describeError(error) })),
      onRecovered: () => this.logger.log('retention works again'),
    };
    this.recurrence = new Recurrence(options.everyMs, (signal) => this.prune(options, signal), events, systemRandom);
  }

  onApplicationBootstrap(): void {
    this.recurrence?.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.recurrence?.stop();
  }

  private async prune(options: ResolvedInboxRetention, signal: AbortSignal): Promise<void> {
    const { records, failures } = await this.retention.prune(options, signal);
    if (records + failures > 0) this.logger.log(logLine('retention', { records, failures }));
  }
}
