import type { EventEmitter } from 'node:events';
import type { DataSource } from 'typeorm';
import { waitFor } from '../runtime/index.js';
import { quoteIdentifier } from './table-names.js';

interface ListenClient extends EventEmitter {
  connect(): Promise<void>;
  query(text: string): Promise<unknown>;
  end(): Promise<void>;
}

type ListenClientClass = new (options: Readonly<Record<string, unknown>>) => ListenClient;

interface PoolWithClient {
  readonly options: Readonly<Record<string, unknown>>;
  readonly Client: ListenClientClass;
}

export interface WakeUpListenerEvents {
  /** The payload of a notification, or undefined right after (re)connecting: what was missed is unknown. */
  readonly onWake: (payload: string | undefined) => void;
  /** The connection failed; it will be replaced. Called once until it listens again, however long that takes. */
  readonly onLost: (error: unknown) => void;
}

const CHECK_INTERVAL_MS = 15_000;
const CHECK_TIMEOUT_MS = 5000;
const RECONNECT_BASE_MS = 200;
const RECONNECT_CAP_MS = 30_000;

/**
 * A connection of its own that listens for wake-ups. It is asked for a sign of life every 15 s, because a connection
 * can die without a word; a dead one is replaced, without limit of time. A notification is only ever a hint.
 */
export class WakeUpListener {
  private readonly stopped = new AbortController();
  private running: Promise<void> | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly channel: string,
    private readonly events: WakeUpListenerEvents,
  ) {}

  start(): void {
    this.running = this.keepListening();
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.running;
  }

  private async keepListening(): Promise<void> {
    for (let failures = 0; !this.stopped.signal.aborted; ) {
      const client = this.newClient();
      try {
        const lost = nextLoss(client);
        await client.connect();
        client.on('notification', (message: { payload?: string }) => this.events.onWake(message.payload ?? ''));
        await client.query(`listen ${quoteIdentifier(this.channel)}`);
        this.events.onWake(undefined);
        failures = 0;
        await Promise.race([lost, this.keepChecking(client)]);
      } catch (error) {
        if (failures === 0 && !this.stopped.signal.aborted) this.events.onLost(error);
        failures += 1;
      }
      client.removeAllListeners('notification');
      // A connection that is already broken has nothing to end.
      await client.end().catch(() => undefined);
      if (failures > 0)
        await waitFor(Math.min(RECONNECT_CAP_MS, RECONNECT_BASE_MS * 2 ** failures), this.stopped.signal);
    }
  }

  /** Resolves when told to stop; rejects when the server does not answer in time. */
  private async keepChecking(client: ListenClient): Promise<void> {
    while (!this.stopped.signal.aborted) {
      await waitFor(CHECK_INTERVAL_MS, this.stopped.signal);
      if (!this.stopped.signal.aborted) await answered(client.query('select 1'), CHECK_TIMEOUT_MS);
    }
  }

  private newClient(): ListenClient {
    const { options, Client } = (this.dataSource.driver as unknown as { master: PoolWithClient }).master;
    return new Client({
      ...options,
      // pg-pool makes both non-enumerable, so the spread leaves them out.
      password: options.password,
      ssl: options.ssl,
      application_name: `${String(options.application_name ?? 'app')}:outbox-listen`,
      statement_timeout: 0,
      query_timeout: 0,
      connectionTimeoutMillis: 10_000,
      pipeline: false,
      keepAlive: true,
    });
  }
}

function nextLoss(client: ListenClient): Promise<never> {
  const loss = new Promise<never>((_, reject) => {
    client.on('error', reject);
    client.on('end', () => reject(new Error('the listening connection was closed')));
  });
  loss.catch(() => undefined); // reported where it is raced; this only keeps a late one from counting as unhandled
  return loss;
}

async function answered(answer: Promise<unknown>, timeoutMs: number): Promise<void> {
  const done = new AbortController();
  const late = waitFor(timeoutMs, done.signal).then(() => {
    if (!done.signal.aborted) throw new Error(`the listening connection did not answer within ${timeoutMs} ms`);
  });
  answer.catch(() => undefined); // as above, when the time-out was first
  try {
    await Promise.race([answer, late]);
  } finally {
    done.abort();
  }
}
