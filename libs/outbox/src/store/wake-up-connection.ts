import type { EventEmitter } from 'node:events';
import type { DataSource } from 'typeorm';
import { waitFor, within } from '../runtime/index.js';
import { detectPooler, type PostgresConnection } from './detect-pooler.js';
import { quoteIdentifier } from './table-names.js';
import { probeChannel } from './wake-up-channel.js';

interface ListenClient extends EventEmitter, PostgresConnection {
  /** Not documented, hence optional. */
  readonly connection?: { readonly stream?: { destroy(): void } };
  connect(): Promise<void>;
  end(): Promise<void>;
}

type ListenClientClass = new (options: Readonly<Record<string, unknown>>) => ListenClient;

interface PoolWithClient {
  readonly options: Readonly<Record<string, unknown>>;
  readonly Client: ListenClientClass;
}

/** Time for a farewell; a server that is not there any more never answers it. */
const FAREWELL_MS = 1000;

/** One listening connection: opened once, lost or closed once, then of no use. */
export class WakeUpConnection {
  /** Rejects when the connection breaks. One that dies without a word never does: it has to be asked. */
  readonly lost: Promise<never>;
  /** Whether a pooler stands between. Known when it is open. */
  isPooled = false;
  /** Whether any notification came, a probe of whomever included. Set back by who asks. */
  hasHeard = false;

  private readonly client: ListenClient;
  private isBroken = false;
  private awaited: { readonly probe: string; readonly arrived: () => void } | undefined;

  constructor(
    dataSource: DataSource,
    private readonly channel: string,
    /** Told the payload of each notification that is no probe. */
    private readonly onNotification: (payload: string) => void,
  ) {
    this.client = newClient(dataSource);
    this.lost = new Promise<never>((_, reject) => {
      this.client.on('error', reject);
      this.client.on('end', () => reject(new Error('the listening connection was closed')));
    });
    // Reported where it is raced; this only keeps a late one from counting as unhandled.
    this.lost.catch(() => {
      this.isBroken = true;
    });
  }

  /** Resolves when PostgreSQL, or a pooler in its name, has answered to LISTEN. */
  async open(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const { client, channel } = this;
    const listen = async (): Promise<void> => {
      await client.connect();
      this.isPooled = await detectPooler(client);
      client.on('notification', (message: Notification) => this.hear(message));
      await client.query(`listen ${quoteIdentifier(channel)}; listen ${quoteIdentifier(probeChannel(channel))}`);
    };
    await within(timeoutMs, `the listening connection was not there within ${timeoutMs} ms`, listen(), signal);
  }

  /** Resolves when this probe has come in. */
  arrivalOf(probe: string): Promise<void> {
    return new Promise((arrived) => {
      this.awaited = { probe, arrived };
    });
  }

  /** Resolves when the server has answered something. */
  async answer(): Promise<void> {
    await this.client.query('select 1');
  }

  /** Says goodbye, and gives the connection up when nobody answers. Never rejects. */
  async close(): Promise<void> {
    this.client.removeAllListeners('notification');
    const answered = new AbortController();
    await Promise.race([this.sayGoodbye(), waitFor(FAREWELL_MS, answered.signal)]);
    answered.abort();
    this.client.connection?.stream?.destroy();
  }

  private async sayGoodbye(): Promise<void> {
    if (this.isBroken) return;
    const channels = [this.channel, probeChannel(this.channel)].map(quoteIdentifier);
    try {
      // Behind a pooler LISTEN outlives this connection: PostgreSQL would go on notifying a session that others use.
      if (this.isPooled) await this.client.query(channels.map((channel) => `unlisten ${channel}`).join('; '));
      await this.client.end();
    } catch {
      // It broke meanwhile, and has nothing to end.
    }
  }

  private hear({ channel, payload = '' }: Notification): void {
    this.hasHeard = true;
    if (channel === this.channel) this.onNotification(payload);
    else if (payload === this.awaited?.probe) this.awaited.arrived();
  }
}

interface Notification {
  readonly channel: string;
  readonly payload?: string;
}

function newClient(dataSource: DataSource): ListenClient {
  const { options, Client } = (dataSource.driver as unknown as { master: PoolWithClient }).master;
  return new Client({
    ...options,
    // pg-pool makes both non-enumerable, so the spread leaves them out.
    password: options.password,
    ssl: options.ssl,
    application_name: `${String(options.application_name ?? 'app')}:outbox-listen`,
    statement_timeout: 0,
    query_timeout: 0,
    connectionTimeoutMillis: 0, // opening has a deadline of its own
    pipeline: false,
    keepAlive: true,
  });
}
