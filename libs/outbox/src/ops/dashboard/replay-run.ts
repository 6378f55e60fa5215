import { ConflictException, type OnApplicationShutdown } from '@nestjs/common';
import { describeError } from '../../errors/index.js';
import { rememberContext } from '../../runtime/index.js';
import type { ManualChange, ReplayFilter } from '../../store/index.js';
import type { ReplayService } from '../replay.service.js';

/** A replay that somebody started from the page. */
export interface ReplayProgress {
  readonly by: string;
  readonly reason: string;
  readonly queued: number;
  readonly total: number;
  readonly state: 'running' | 'done' | 'stopped' | 'failed';
  readonly error: string | undefined;
}

/**
 * Replays longer than a request lasts, one at a time. It dies with the process; what was queued until then is sent, and the
 * record of the operation says how much that was.
 */
export class ReplayRun implements OnApplicationShutdown {
  private readonly outsideRequests = rememberContext();
  private progress: ReplayProgress | undefined;
  private stopping = new AbortController();
  private running: Promise<unknown> | undefined;

  constructor(private readonly replays: ReplayService) {}

  current(): ReplayProgress | undefined {
    return this.progress;
  }

  /**
   * @returns as soon as the first part is queued.
   * @throws ConflictException while another one runs; ConfigurationError as ReplayService does, and nothing is queued then.
   */
  async start(
    filter: ReplayFilter,
    change: ManualChange,
    limits: { readonly perSecond: number | undefined; readonly atMost: number },
  ): Promise<ReplayProgress> {
    if (this.running !== undefined) throw new ConflictException('A replay runs already. Wait for its end, or stop it.');
    this.stopping = new AbortController();
    const { signal } = this.stopping;
    let progress: ReplayProgress = { ...change, queued: 0, total: 0, state: 'running', error: undefined };
    const note = (news: Partial<ReplayProgress>): void => {
      progress = { ...progress, ...news };
      // One that selected nothing was none.
      if (progress.total > 0) this.progress = progress;
    };
    let onFirst: () => void = () => undefined;
    const first = new Promise<void>((resolve) => {
      onFirst = resolve;
    });
    const onProgress = (queued: number, total: number): void => {
      note({ queued, total });
      onFirst();
    };
    const replay = this.outsideRequests(() =>
      this.replays.replay(filter, change, { ...limits, signal, onProgress }),
    ).then(
      (queued) => note({ queued, state: signal.aborted ? 'stopped' : 'done' }),
      (error: unknown) => {
        // Before the first part it is the answer to the request.
        if (progress.queued === 0) throw error;
        note({ state: 'failed', error: describeError(error) });
      },
    );
    this.running = replay.finally(() => {
      this.running = undefined;
    });
    this.running.catch(() => undefined); // whoever waits for `replay` below gets it
    await Promise.race([first, replay]);
    return progress;
  }

  /** Ends it after the part that is being queued. @returns false when none runs. */
  stop(): boolean {
    this.stopping.abort();
    return this.running !== undefined;
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    // Its failure was told to whoever started it.
    await this.running?.catch(() => undefined);
  }
}
