import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { BacklogFigures, OutboxTelemetry } from '../telemetry/index.js';
import type { BacklogService } from './backlog.service.js';

/** Lets the application's metrics show the backlog for as long as it runs. It is read when somebody collects, not before. */
export class OutboxGauges implements OnApplicationBootstrap, OnModuleDestroy {
  private endObservation: (() => void) | undefined;

  constructor(
    private readonly backlog: Pick<BacklogService, 'read'>,
    private readonly destinations: readonly string[],
    private readonly telemetry: OutboxTelemetry,
  ) {}

  onApplicationBootstrap(): void {
    this.endObservation = this.telemetry.observeBacklog(() => this.read());
  }

  onModuleDestroy(): void {
    this.endObservation?.();
    this.endObservation = undefined;
  }

  /** A destination without a backlog has figures, too: a curve that ends says nothing. */
  private async read(): Promise<readonly BacklogFigures[]> {
    const backlogs = await this.backlog.read();
    const busy = new Set(backlogs.map(({ destination }) => destination));
    return [...backlogs, ...this.destinations.filter((name) => !busy.has(name)).map(nothingWaits)];
  }
}

function nothingWaits(destination: string): BacklogFigures {
  return { destination, oldestUndeliveredMs: undefined, pending: 0, processing: 0, expiredLeases: 0, dead: 0 };
}
