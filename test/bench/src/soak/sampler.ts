import type { BenchDatabase } from '../measure/bench-server.js';

const MEBIBYTE = 2 ** 20;

/** One look at the whole system. */
export interface SoakSample {
  /** Since the beginning of the recording. */
  readonly minute: number;
  readonly emittedPerSecond: number;
  readonly steadyPerSecond: number;
  readonly shakyPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly queueMebibytes: number;
  readonly logMebibytes: number;
  readonly queueDeadTuples: number;
  readonly logDeadTuples: number;
  /** Deliveries that are not done, dead ones included. */
  readonly backlog: number;
  readonly residentMebibytes: number;
  /** After a garbage collection. */
  readonly heapMebibytes: number;
  readonly openHandles: number;
  /** Of the application; the one that looks is not counted. */
  readonly connections: number;
}

/** What only grows; the rates follow from two looks at it. */
export interface Totals {
  readonly emitted: number;
  readonly steady: number;
  readonly shaky: number;
}

/** Takes samples; each one's rates are those since the one before. */
export class Sampler {
  private readonly startedAt = performance.now();
  private last: { readonly at: number; readonly totals: Totals };

  constructor(
    private readonly database: BenchDatabase,
    private readonly totals: () => Totals,
    private readonly latency: { take(): { readonly p50: number; readonly p99: number } },
  ) {
    this.last = { at: this.startedAt, totals: totals() };
  }

  async sample(): Promise<SoakSample> {
    const now = { at: performance.now(), totals: this.totals() };
    const seconds = (now.at - this.last.at) / 1000;
    const perSecond = (name: keyof Totals): number => (now.totals[name] - this.last.totals[name]) / seconds;
    const { p50, p99 } = this.latency.take();
    const rates = {
      emittedPerSecond: perSecond('emitted'),
      steadyPerSecond: perSecond('steady'),
      shakyPerSecond: perSecond('shaky'),
    };
    this.last = now;
    global.gc?.();
    const { rss, heapUsed } = process.memoryUsage();
    return {
      minute: (now.at - this.startedAt) / 60_000,
      ...rates,
      p50Ms: p50,
      p99Ms: p99,
      residentMebibytes: rss / MEBIBYTE,
      heapMebibytes: heapUsed / MEBIBYTE,
      openHandles: process.getActiveResourcesInfo().length,
      ...(await this.lookAtDatabase()),
    };
  }

  private async lookAtDatabase(): Promise<
    Pick<
      SoakSample,
      'queueMebibytes' | 'logMebibytes' | 'queueDeadTuples' | 'logDeadTuples' | 'backlog' | 'connections'
    >
  > {
    const [row] = await this.database.query<Record<string, string>>(
      `select pg_total_relation_size('outbox_delivery') as queue, pg_total_relation_size('outbox_event') as log,
        (select n_dead_tup from pg_stat_user_tables where relname = 'outbox_delivery') as queue_dead,
        (select n_dead_tup from pg_stat_user_tables where relname = 'outbox_event') as log_dead,
        (select count(*) from outbox_delivery where status <> 2) as backlog,
        (select count(*) from pg_stat_activity
         where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()) as connections`,
    );
    return {
      queueMebibytes: Number(row?.queue) / MEBIBYTE,
      logMebibytes: Number(row?.log) / MEBIBYTE,
      queueDeadTuples: Number(row?.queue_dead),
      logDeadTuples: Number(row?.log_dead),
      backlog: Number(row?.backlog),
      connections: Number(row?.connections),
    };
  }
}
