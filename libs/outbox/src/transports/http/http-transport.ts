import { setMaxListeners } from 'node:events';
import { Agent } from 'undici';
import { wallClockMs } from '../../runtime/index.js';
import { isDead, STRUCTURED_TYPE, toStructuredCloudEvent } from '../cloud-event-message.js';
import type { PublishOutcome } from '../publish-outcome.js';
import type { OutgoingEvent, Transport, TransportCapabilities } from '../transport.js';
import { exchange } from './exchange.js';
import { exchangeOutcome } from './exchange-outcome.js';
import { type HttpTransportOptions, type ResolvedHttpOptions, resolveHttpOptions } from './http-transport-options.js';
import { parseTarget, TargetRefusedError } from './target.js';

/**
 * Publishes each event as one POST of a CloudEvent in structured JSON, signed as Standard Webhooks when there is a
 * secret. `delivered` means that the receiver answered with a complete 2xx response in time. Redirects are never
 * followed, and neither secrets, URL paths and queries, nor response bodies enter an error text.
 */
export class HttpTransport implements Transport {
  readonly capabilities: TransportCapabilities = { batch: false, keepsOrderPerKey: false, deduplicates: false };
  readonly #options: ResolvedHttpOptions;
  readonly #agent: Agent;
  readonly #closing = new AbortController();

  /** @throws ConfigurationError when an option is missing, out of its bounds or contradicts another one. */
  constructor(options: HttpTransportOptions) {
    this.#options = resolveHttpOptions(options);
    const { connections, timeoutMs, lookup } = this.#options;
    // One listener per socket and exchange is what this signal is for; all of them are removed again.
    setMaxListeners(0, this.#closing.signal);
    this.#agent = new Agent({
      connections,
      // One deadline covers the whole exchange; these two of undici's would only restart with every byte.
      headersTimeout: 0,
      bodyTimeout: 0,
      // `signal` reaches every socket, so that close() also ends those that are still connecting.
      connect: { timeout: timeoutMs, signal: this.#closing.signal, ...(lookup === undefined ? {} : { lookup }) },
    });
  }

  /** Rejects only when a function from the options (`url`, `classify`) throws. */
  publish(batch: readonly OutgoingEvent[], signal: AbortSignal): Promise<readonly PublishOutcome[]> {
    return Promise.all(batch.map((event) => this.#publishOne(event, signal)));
  }

  /** Destroys every connection at once: whoever still waits for an answer gets `retry`. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#agent.destroy();
  }

  async #publishOne(event: OutgoingEvent, signal: AbortSignal): Promise<PublishOutcome> {
    const target = this.#targetOf(event);
    if (target instanceof TargetRefusedError) return { kind: 'dead', error: target.message };
    const text = toStructuredCloudEvent(event, this.#options.source);
    if (isDead(text)) return text;
    const body = Buffer.from(text);
    const request = { url: target, headers: this.#headersOf(event, body), body };
    const result = await exchange(this.#agent, request, this.#options, [signal, this.#closing.signal]);
    return exchangeOutcome(result, target.origin, this.#options);
  }

  #targetOf(event: OutgoingEvent): URL | TargetRefusedError {
    const { url, addressPolicy } = this.#options;
    if (url instanceof URL) return url;
    const text = url(event);
    try {
      return parseTarget(text, addressPolicy);
    } catch (error) {
      if (error instanceof TargetRefusedError) return error;
      throw error;
    }
  }

  #headersOf(event: OutgoingEvent, body: Buffer): Record<string, string> {
    const { headers, signer } = this.#options;
    const { id } = event.envelope;
    const own = { ...headers, 'content-type': STRUCTURED_TYPE, 'webhook-id': id };
    return signer === undefined ? own : { ...own, ...signer.sign(id, wallClockMs(), body) };
  }
}
