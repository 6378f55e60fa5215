import { lastValueFrom, type Observable } from 'rxjs';
import { ConfigurationError, describeError } from '../../errors/index.js';
import { isDead, toCloudEventJson } from '../cloud-event-message.js';
import { Link } from '../link.js';
import { delivered, type PublishOutcome } from '../publish-outcome.js';
import { requireSource } from '../source.js';
import type { OutgoingEvent, Transport, TransportCapabilities } from '../transport.js';
import { unanswered } from '../unanswered.js';
import { untilAborted } from '../until-aborted.js';

/** What is used of a `ClientProxy` of `@nestjs/microservices`. */
export interface EmittingClient {
  connect(): Promise<unknown>;
  emit(pattern: unknown, data: unknown): Observable<unknown>;
  send(pattern: unknown, data: unknown): Observable<unknown>;
}

export interface ClientProxyTransportOptions {
  /** A `ClientProxy`, as ClientsModule or ClientProxyFactory make it. It stays its owner's, who closes it. */
  readonly client: EmittingClient;
  /** Pattern of the handler; default: the event's type. */
  readonly pattern?: (event: OutgoingEvent) => unknown;
  /**
   * `emit` (default) is done when the client has handed the event over, which proves little with some brokers. `send` is
   * done when a `@MessagePattern` handler has answered, that is, when the event is processed.
   */
  readonly method?: 'emit' | 'send';
  /** CloudEvents `source`: a URI reference of the producing application; default `/nestjs-transactional-outbox`. */
  readonly source?: string;
}

/**
 * Hands events to a `ClientProxy` of Nest, as CloudEvents in JSON. `delivered` means no more than the client's own promise:
 * see the table of the page "ClientProxy" for what each of them proves.
 */
export class ClientProxyTransport implements Transport {
  readonly capabilities: TransportCapabilities = { batch: false, keepsOrderPerKey: false, deduplicates: false };
  readonly #client: EmittingClient;
  readonly #pattern: (event: OutgoingEvent) => unknown;
  readonly #method: 'emit' | 'send';
  readonly #source: string;
  readonly #link: Link<EmittingClient>;

  /** @throws ConfigurationError when an option is missing or out of its bounds. */
  constructor({ client, pattern, method = 'emit', source }: ClientProxyTransportOptions) {
    if (typeof client?.emit !== 'function' || typeof client.connect !== 'function') {
      throw new ConfigurationError('ClientProxyTransport: "client" is no ClientProxy of @nestjs/microservices.');
    }
    if (method !== 'emit' && method !== 'send') {
      throw new ConfigurationError(
        `ClientProxyTransport: "method" is ${JSON.stringify(method)}; use 'emit' or 'send'.`,
      );
    }
    this.#client = client;
    this.#pattern = pattern ?? (({ envelope }) => envelope.type);
    this.#method = method;
    this.#source = requireSource('ClientProxyTransport', source);
    this.#link = new Link({ open: () => this.#open(), close: async () => undefined });
  }

  async connect(): Promise<void> {
    await this.#link.get();
  }

  publish(batch: readonly OutgoingEvent[], signal: AbortSignal): Promise<readonly PublishOutcome[]> {
    return this.#link.publish(batch, signal, () =>
      Promise.all(batch.map((event) => untilAborted(this.#publishOne(event), signal, () => unanswered))),
    );
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  async #open(): Promise<EmittingClient> {
    await this.#client.connect();
    return this.#client;
  }

  /** Never rejects. */
  async #publishOne(event: OutgoingEvent): Promise<PublishOutcome> {
    const message = toCloudEventJson(event, this.#source);
    if (isDead(message)) return message;
    try {
      // An answer without a value is an answer.
      await lastValueFrom(this.#client[this.#method](this.#pattern(event), message), { defaultValue: undefined });
      return delivered;
    } catch (error) {
      // The next publish asks the client to connect again, which it does only if it has to.
      this.#link.drop(this.#client);
      return { kind: 'retry', error: `the client did not hand the event over: ${describeError(error)}` };
    }
  }
}
