import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { type Random, systemRandom, waitFor, within } from '../runtime/index.js';
import type { SqlClient } from './sql-client.js';
import { notifyDestinations, probeChannel } from './wake-up-channel.js';
import { WakeUpConnection } from './wake-up-connection.js';

export interface WakeUpListenerEvents {
  /** The payload of a notification, or undefined right after (re)connecting: what was missed is unknown. */
  readonly onWake: (payload: string | undefined) => void;
  /** True: it is proven that notifications arrive. False: they do not any more. Called when it changes. */
  readonly onListening: (isListening: boolean) => void;
  /** The connection failed; it will be replaced. Called once until it listens again, however long that takes. */
  readonly onLost: (error: unknown) => void;
  /** A pooler answers to LISTEN, but no notification ever came through it. Called once. */
  readonly onPooled: () => void;
}

/** All in milliseconds. */
export interface WakeUpListenerTimes {
  /** Longest time without a notification before one is asked for. */
  readonly checkIntervalMs: number;
  /** For each step: to connect and listen, to see a probe come in, to answer. */
  readonly checkTimeoutMs: number;
  /** Full jitter above the half: the wait after failure n is uniform in 0.5 to 1 of min(cap, base × 2^n). */
  readonly reconnectBaseMs: number;
  readonly reconnectCapMs: number;
  /** Until it is tried again whether notifications come through a pooler. */
  readonly pooledRetryMs: number;
}

const TIMES: WakeUpListenerTimes = {
  checkIntervalMs: 20_000,
  checkTimeoutMs: 5000,
  reconnectBaseMs: 200,
  reconnectCapMs: 30_000,
  pooledRetryMs: 600_000,
};

/** The server took a probe from another connection, and the listening one did not get it. */
class DeafConnectionError extends Error {
  constructor(
    readonly isPooled: boolean,
    cause: unknown,
  ) {
    super('the listening connection got no notification', { cause });
  }
}

/**
 * Listens for wake-ups on a connection of its own, and never believes that it does: a connection can die without a
 * word, and a pooler answers to LISTEN without ever delivering. So a probe is sent on another connection right after
 * LISTEN, and again whenever nothing was heard for a while; when it does not come in, the connection is replaced,
 * without limit of time. Any notification counts as heard, so that of many listeners one probes for all.
 */
export class WakeUpListener {
  private readonly stopped = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private failures = 0;
  private isListening = false;
  private hasEverHeard = false;
  private hasSaidPooled = false;

  /** @param sender sends the probes, on connections other than the listening one. */
  constructor(
    private readonly dataSource: DataSource,
    private readonly channel: string,
    private readonly sender: SqlClient,
    private readonly events: WakeUpListenerEvents,
    private readonly times: WakeUpListenerTimes = TIMES,
    private readonly random: Random = systemRandom,
  ) {}

  start(): void {
    this.running = this.keepListening();
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.running;
  }

  private async keepListening(): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted) {
      try {
        await this.listenOnce();
      } catch (error) {
        if (!signal.aborted) await waitFor(this.pauseAfter(error), signal);
      }
    }
  }

  /** Resolves when told to stop; rejects when the connection is lost or does not hear. */
  private async listenOnce(): Promise<void> {
    const connection = new WakeUpConnection(this.dataSource, this.channel, this.events.onWake);
    const over = new AbortController();
    const end = (): void => over.abort();
    this.stopped.signal.addEventListener('abort', end);
    try {
      await connection.open(this.times.checkTimeoutMs, this.stopped.signal);
      this.events.onWake(undefined);
      await Promise.race([connection.lost, this.keepChecking(connection, over.signal)]);
    } finally {
      // The checks of a connection end with it: what it once heard says nothing of the next one.
      this.stopped.signal.removeEventListener('abort', end);
      end();
      await connection.close();
    }
  }

  private async keepChecking(connection: WakeUpConnection, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (!connection.hasHeard) await this.probe(connection, signal);
      if (connection.hasHeard && !signal.aborted) this.noteHeard();
      connection.hasHeard = false;
      await waitFor(this.jittered(this.times.checkIntervalMs), signal);
    }
  }

  /**
   * Resolves when the probe came in, or when nobody could send it (the pool is busy or broken) and the connection at
   * least answers: then nothing is proven, nor disproven.
   */
  private async probe(connection: WakeUpConnection, signal: AbortSignal): Promise<void> {
    const { checkTimeoutMs } = this.times;
    const probe = randomUUID();
    let isSent = false;
    const arrival = connection.arrivalOf(probe);
    notifyDestinations(this.sender, probeChannel(this.channel), [probe]).then(
      () => {
        isSent = true;
      },
      () => undefined, // judged by `isSent`; whoever uses that pool hears of its troubles
    );
    try {
      await within(checkTimeoutMs, `no notification came within ${checkTimeoutMs} ms`, arrival, signal);
    } catch (error) {
      if (isSent) throw new DeafConnectionError(connection.isPooled, error);
      const complaint = `the listening connection did not answer within ${checkTimeoutMs} ms`;
      await within(checkTimeoutMs, complaint, connection.answer(), signal);
    }
  }

  private noteHeard(): void {
    this.failures = 0;
    this.hasEverHeard = true;
    this.believe(true);
  }

  private believe(isListening: boolean): void {
    if (this.isListening === isListening) return;
    this.isListening = isListening;
    this.events.onListening(isListening);
  }

  /** @returns how long to wait before the next try. */
  private pauseAfter(error: unknown): number {
    const { reconnectBaseMs, reconnectCapMs, pooledRetryMs } = this.times;
    this.believe(false);
    if (error instanceof DeafConnectionError && error.isPooled && !this.hasEverHeard) {
      if (!this.hasSaidPooled) this.events.onPooled();
      this.hasSaidPooled = true;
      return this.jittered(pooledRetryMs);
    }
    if (this.failures === 0) this.events.onLost(error);
    this.failures += 1;
    return this.jittered(Math.min(reconnectCapMs, reconnectBaseMs * 2 ** this.failures));
  }

  /** At least half of it, so that instances which lost their connections at once do not come back at once. */
  private jittered(ms: number): number {
    return ms * (0.5 + this.random() / 2);
  }
}
