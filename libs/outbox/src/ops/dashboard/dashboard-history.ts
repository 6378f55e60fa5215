import { Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { describeError } from '../../errors/index.js';
import { logLine, rememberContext, waitFor, wallClockMs } from '../../runtime/index.js';
import type { DashboardFigures, DestinationFigures } from './dashboard-figures.js';

const KEPT_MS = 3_600_000;
/** The curves may show what an open page has counted a moment before. */
const AS_GOOD_AS_NEW_MS = 1000;

/** One look at all destinations. */
export interface Sample {
  readonly atMs: number;
  /** By destination: deliveries a second since the sample before (null when unknown), and the age of the oldest in ms. */
  readonly destinations: Readonly<Record<string, readonly [perSecond: number | null, oldestMs: number]>>;
}

/**
 * Looks at the figures as long as the application runs, and remembers the last hour, in memory: for the curves only, so a
 * restart begins anew. A look that fails leaves a gap.
 */
export class DashboardHistory implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('OutboxDashboard');
  private readonly stopping = new AbortController();
  private readonly outsideRequests = rememberContext();
  private readonly samples: Sample[] = [];
  private counted = new Map<string, { readonly delivered: number; readonly atMs: number }>();
  private isFailing = false;
  private running: Promise<void> | undefined;

  constructor(
    private readonly figures: Pick<DashboardFigures, 'read'>,
    readonly sampleEveryMs: number,
  ) {}

  onApplicationBootstrap(): void {
    this.running = this.outsideRequests(() => this.run(this.stopping.signal));
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  /** Oldest first, those after a time. */
  since(atMs: number): readonly Sample[] {
    return this.samples.filter((sample) => sample.atMs > atMs);
  }

  private async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.look();
      await waitFor(this.sampleEveryMs, signal);
    }
  }

  private async look(): Promise<void> {
    try {
      this.keep(wallClockMs(), await this.figures.read({ maxAgeMs: AS_GOOD_AS_NEW_MS }));
      this.isFailing = false;
    } catch (error) {
      if (!this.isFailing) this.logger.warn(logLine('no figures, going on', { error: describeError(error) }));
      this.isFailing = true;
    }
  }

  private keep(atMs: number, figures: readonly DestinationFigures[]): void {
    const destinations = figures.map(({ name, delivered, oldestUndeliveredMs = 0 }) => {
      const before = this.counted.get(name);
      const perSecond = before === undefined ? null : rate(delivered - before.delivered, atMs - before.atMs);
      return [name, [perSecond, Math.round(oldestUndeliveredMs)] as const] as const;
    });
    this.counted = new Map(figures.map(({ name, delivered }) => [name, { delivered, atMs }]));
    this.samples.push({ atMs, destinations: Object.fromEntries(destinations) });
    while ((this.samples[0]?.atMs ?? atMs) < atMs - KEPT_MS) this.samples.shift();
  }
}

function rate(count: number, ms: number): number | null {
  return ms > 0 ? Math.max(0, Math.round((count * 10_000) / ms) / 10) : null;
}
