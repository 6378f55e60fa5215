import { describeError } from '../errors/index.js';
import { held, type PublishOutcome } from './publish-outcome.js';
import type { OutgoingEvent } from './transport.js';
import { untilAborted } from './until-aborted.js';

/** Opens and closes what a transport speaks through: a connection, a channel. */
export interface LinkActions<T> {
  open(): Promise<T>;
  close(opened: T): Promise<void>;
}

/**
 * What a transport speaks through. It is opened when it is needed and again after it was lost; the dispatcher, which
 * leaves an unreachable destination alone for a while, decides how often. One attempt at a time, whoever asks.
 */
export class Link<T> {
  private opening: Promise<T> | undefined;
  private opened: T | undefined;
  private isClosed = false;

  constructor(private readonly actions: LinkActions<T>) {}

  /** Rejects with what went wrong when it cannot be opened. */
  get(): Promise<T> {
    if (this.opened !== undefined) return Promise.resolve(this.opened);
    this.opening ??= this.open();
    return this.opening;
  }

  /** Forgets what was lost or is not to be used any more; somebody's newer one stays. */
  drop(lost: T): void {
    if (this.opened === lost) this.opened = undefined;
  }

  /**
   * Runs `publish` with the open link. Where there is none, nothing is sent: the destination is unreachable, also when it
   * does not answer in time; when the call is interrupted meanwhile, the events are held.
   */
  async publish(
    batch: readonly OutgoingEvent[],
    signal: AbortSignal,
    publish: (opened: T) => Promise<readonly PublishOutcome[]>,
  ): Promise<readonly PublishOutcome[]> {
    const attempt = this.get().then(
      (opened) => ({ opened }),
      (error: unknown) => ({ error }),
    );
    const answer = await untilAborted(attempt, signal, () => ({ error: signal.reason as unknown }));
    if (signal.aborted && !isTimeout(signal.reason)) return batch.map(() => held);
    if ('error' in answer) return batch.map(() => ({ kind: 'unreachable', error: describeError(answer.error) }));
    return signal.aborted ? batch.map(() => held) : publish(answer.opened);
  }

  /** Also closes what is still being opened. Nothing is opened any more. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.opening?.catch(() => undefined); // nobody waits for it any more
    const { opened } = this;
    this.opened = undefined;
    if (opened !== undefined) await this.actions.close(opened);
  }

  private async open(): Promise<T> {
    try {
      if (this.isClosed) throw new Error('the transport was closed.');
      this.opened = await this.actions.open();
      return this.opened;
    } finally {
      this.opening = undefined;
    }
  }
}

/** As the dispatcher aborts a call whose time is over. */
function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === 'TimeoutError';
}
