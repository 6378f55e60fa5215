import { type Cluster, type Redis, ReplyError } from 'ioredis';
import { describeError } from '../../errors/index.js';
import { type CloudEventMessage, JSON_TYPE, toCloudEventMessage } from '../cloud-event-message.js';
import { type EncodedEvent, encodeBatch } from '../encode-batch.js';
import { groupBy } from '../group-by.js';
import { Link } from '../link.js';
import { orderedKey } from '../ordered-key.js';
import { delivered, held, type PublishOutcome } from '../publish-outcome.js';
import type { OutgoingEvent, Transport, TransportCapabilities } from '../transport.js';
import { unanswered } from '../unanswered.js';
import { untilAborted } from '../until-aborted.js';
import { APPEND_EVENTS_LUA } from './append-events.lua.js';
import { openClient } from './open-client.js';
import {
  type RedisStreamsTransportOptions,
  type ResolvedRedisStreamsOptions,
  resolveRedisStreamsOptions,
} from './redis-streams-transport-options.js';

/** First words of errors that are about the server or the account, not about the event (Redis, "Error reply"). */
const SERVER_REFUSES = new Set([
  'NOAUTH',
  'WRONGPASS',
  'NOPERM',
  'READONLY',
  'LOADING',
  'MASTERDOWN',
  'CLUSTERDOWN',
  'OOM',
  'MISCONF',
  'NOREPLICAS',
]);

/** A client that knows the script by its name. */
type StreamClient = (Redis | Cluster) & {
  appendEvents(stream: string, ...values: (string | number | Buffer)[]): Promise<string[]>;
};

/**
 * Appends events to Redis Streams, in one round trip for each stream of a batch. `delivered` means that Redis answered
 * with the id of the entry; how safe it is then is up to the server's `appendfsync` and replication.
 *
 * An entry has a field for each CloudEvents attribute (`ce_id`, `ce_type`, …), `content-type`, and the payload in `data`.
 */
export class RedisStreamsTransport implements Transport {
  readonly capabilities: TransportCapabilities;
  readonly #options: ResolvedRedisStreamsOptions;
  readonly #link: Link<StreamClient>;

  /** @throws ConfigurationError when an option is missing or out of its bounds. */
  constructor(options: RedisStreamsTransportOptions) {
    this.#options = resolveRedisStreamsOptions(options);
    // Only the default is known to bring an aggregate into one stream.
    this.capabilities = { batch: true, keepsOrderPerKey: options.stream === undefined, deduplicates: false };
    this.#link = new Link({ open: () => this.#open(), close: async (client) => client.disconnect() });
  }

  async connect(): Promise<void> {
    await this.#link.get();
  }

  publish(batch: readonly OutgoingEvent[], signal: AbortSignal): Promise<readonly PublishOutcome[]> {
    return this.#link.publish(batch, signal, async (client) => {
      const { source, stream } = this.#options;
      const { encoded, outcomes } = encodeBatch(batch, (event) => toCloudEventMessage(event, source));
      const appending = [...groupBy(encoded, ({ event }) => stream(event))].map(([name, entries]) =>
        this.#append(client, name, entries, outcomes),
      );
      // What is still under way would be sent after the time is over, so the connection is given up.
      await untilAborted(Promise.all(appending), signal, () => client.disconnect());
      return batch.map((event) => outcomes.get(event) ?? unanswered);
    });
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  async #open(): Promise<StreamClient> {
    const client = this.#options.createClient() as StreamClient; // knows the script by the next line
    client.defineCommand('appendEvents', { lua: APPEND_EVENTS_LUA, numberOfKeys: 1 });
    client.on('close', () => this.#link.drop(client));
    return openClient(client);
  }

  /** Notes an outcome for each entry of one stream. Never rejects. */
  async #append(
    client: StreamClient,
    stream: string,
    entries: readonly EncodedEvent<CloudEventMessage>[],
    outcomes: Map<OutgoingEvent, PublishOutcome>,
  ): Promise<void> {
    let answerOf: (index: number) => PublishOutcome;
    try {
      const values = entries.flatMap(({ event, message }) => {
        const fields = fieldsOf(message);
        return [orderedKey(event) ?? '', fields.length, ...fields];
      });
      const answers = await client.appendEvents(stream, this.#options.maxLength, ...values);
      answerOf = (index) => toOutcome(answers[index]);
    } catch (error) {
      const outcome = failureOf(error);
      answerOf = () => outcome;
    }
    for (const [index, { event }] of entries.entries()) outcomes.set(event, answerOf(index));
  }
}

function fieldsOf({ attributes, body }: CloudEventMessage): (string | Buffer)[] {
  const prefixed = Object.entries(attributes).flatMap(([name, value]) => [`ce_${name}`, value]);
  return ['content-type', JSON_TYPE, ...prefixed, 'data', body];
}

/** @param answer of the script for one event. */
function toOutcome(answer: string | undefined): PublishOutcome {
  if (answer?.startsWith('+')) return delivered;
  if (answer === 'held') return held;
  return answer?.startsWith('-') ? refusal(answer.slice(1)) : unanswered;
}

/** The call as a whole failed: Redis refused the script, or the connection is lost. */
function failureOf(error: unknown): PublishOutcome {
  if (error instanceof ReplyError) return refusal((error as Error).message);
  return { kind: 'retry', error: `Redis may have the event, but did not answer: ${describeError(error)}` };
}

/** @param reply of Redis; its first word is the kind of the error. */
function refusal(reply: string): PublishOutcome {
  const error = `Redis refused: ${reply}`;
  return { kind: SERVER_REFUSES.has(reply.split(' ', 1)[0] ?? '') ? 'unreachable' : 'retry', error };
}
