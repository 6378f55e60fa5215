import type { Cluster, Redis } from 'ioredis';
import { describeError } from '../../../errors/index.js';
import { fullJitterMs, logLine, monotonicMs, systemRandom, waitFor } from '../../../runtime/index.js';
import { MessageServer, readParts } from '../../consuming/index.js';
import { groupBy } from '../../group-by.js';
import { openClient } from '../open-client.js';
import {
  type RedisStreamsServerOptions,
  type ResolvedRedisStreamsServerOptions,
  resolveRedisStreamsServerOptions,
} from './redis-streams-server-options.js';
import { type RawEntry, toConsumedMessage } from './stream-entry.js';

/** How long a read waits for new entries; after it, entries that wait for somebody to take them over are looked for. */
const BLOCK_MS = 1000;
const RECONNECT_BASE_MS = 200;
const RECONNECT_CAP_MS = 5000;

/** Refreshed so often, an entry that is being processed never looks abandoned. */
const REFRESHES_PER_TAKE_OVER = 3;

type BufferEntry = readonly [id: Buffer, fields: Buffer[] | null];

/** Two connections: one is blocked while it waits for entries. */
interface Connections {
  readonly reader: Redis | Cluster;
  readonly writer: Redis | Cluster;
}

/**
 * A server for Nest's microservices that reads Redis Streams in a consumer group: each entry is acknowledged after its
 * handlers, and what a consumer that has died had in its hands is taken over by the others.
 *
 * A handler is found by the event's type, or by the name of the stream. Entries are begun in the order of the stream while
 * the group has one consumer and `concurrency` is 1; one that failed does not hold up those behind it.
 */
export class RedisStreamsServer extends MessageServer {
  private readonly settings: ResolvedRedisStreamsServerOptions;
  private readonly stopping = new AbortController();
  /** Entries that this consumer works on or will try again, by stream and id: nobody may take them over. */
  private readonly inHands = new Map<string, { readonly stream: string; readonly id: string }>();
  private connections: Connections | undefined;
  private reading: Promise<void> | undefined;
  private signsOfLife: NodeJS.Timeout | undefined;
  private lookedAt = 0;

  /** @throws ConfigurationError when an option is missing or out of its bounds. */
  constructor(options: RedisStreamsServerOptions) {
    super();
    this.settings = resolveRedisStreamsServerOptions(options);
    this.initializeSerializer({});
    this.initializeDeserializer({});
  }

  /** Calls back when the groups are there, or with the error when Redis cannot be reached. */
  async listen(callback: (error?: unknown) => void): Promise<void> {
    try {
      this.connections = await this.connect();
    } catch (error) {
      callback(error);
      return;
    }
    // Not by the reading, which waits for entries and for handlers that run.
    this.signsOfLife = setInterval(
      () => void this.refreshWhatIsInHands().catch(() => undefined), // the reading finds out what is wrong
      this.settings.takeOverAfterMs / REFRESHES_PER_TAKE_OVER,
    );
    this.reading = this.read();
    callback();
  }

  /** Reads nothing more and waits for the handlers that run. What is to be tried again is taken over by others. */
  async close(): Promise<void> {
    this.stopping.abort();
    this.connections?.reader.disconnect();
    await this.reading;
    await this.untilIdle();
    clearInterval(this.signsOfLife);
    this.connections?.writer.disconnect();
  }

  /** The connection that is not blocked by reading. */
  unwrap<T>(): T {
    return this.connections?.writer as T;
  }

  private async read(): Promise<void> {
    const { signal } = this.stopping;
    for (let failures = 0; !signal.aborted; ) {
      try {
        this.connections ??= await this.connect();
        await this.readOnce(this.connections);
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        if (failures === 0) {
          this.logger.warn(logLine('Redis cannot be read, trying again', { error: describeError(error) }));
        }
        failures += 1;
        this.disconnect();
        await waitFor(fullJitterMs(failures, RECONNECT_BASE_MS, RECONNECT_CAP_MS, systemRandom), signal);
      }
    }
  }

  private async readOnce({ reader, writer }: Connections): Promise<void> {
    const { group, consumer, streams } = this.settings;
    const free = await this.freeSlots();
    const places = ['STREAMS', ...streams, ...streams.map(() => '>')];
    const read = (await reader.callBuffer(
      'XREADGROUP',
      ...['GROUP', group, consumer, 'COUNT', free, 'BLOCK', BLOCK_MS, ...places],
    )) as [Buffer, BufferEntry[]][] | null;
    for (const [stream, entries] of read ?? []) this.handleAll(String(stream), entries);
    if (monotonicMs() - this.lookedAt < this.settings.takeOverAfterMs / REFRESHES_PER_TAKE_OVER) return;
    this.lookedAt = monotonicMs();
    for (const stream of streams) await this.takeOver(writer, stream);
  }

  /** Waits until one more entry may be begun. */
  private async freeSlots(): Promise<number> {
    while (this.runningCount >= this.settings.concurrency) await this.untilOneEnds();
    return this.settings.concurrency - this.runningCount;
  }

  /** A claim by its own consumer sets the time back since which an entry counts as abandoned. */
  private async refreshWhatIsInHands(): Promise<void> {
    const { group, consumer } = this.settings;
    const writer = this.connections?.writer;
    if (writer === undefined) return;
    for (const [stream, entries] of groupBy([...this.inHands.values()], (entry) => entry.stream)) {
      await writer.xclaim(stream, group, consumer, 0, ...entries.map(({ id }) => id), 'JUSTID');
    }
  }

  private async takeOver(writer: Redis | Cluster, stream: string): Promise<void> {
    const { group, consumer, takeOverAfterMs } = this.settings;
    const free = await this.freeSlots();
    const [, entries] = (await writer.callBuffer(
      'XAUTOCLAIM',
      ...[stream, group, consumer, takeOverAfterMs, '0', 'COUNT', free],
    )) as [Buffer, BufferEntry[]];
    this.handleAll(stream, entries);
  }

  private handleAll(stream: string, entries: readonly BufferEntry[]): void {
    for (const [id, fields] of entries) {
      const key = `${stream} ${id}`;
      if (this.inHands.has(key)) continue;
      this.inHands.set(key, { stream, id: String(id) });
      this.handle(key, stream, [String(id), fields]);
    }
  }

  private handle(key: string, stream: string, entry: RawEntry): void {
    const message = toConsumedMessage(stream, entry);
    const type = message.headers.ce_type;
    void this.take(message, readParts(message, type, stream), {
      accept: async () => {
        // Should the acknowledgement get lost, the entry is found abandoned, and comes again.
        this.inHands.delete(key);
        await this.connections?.writer.xack(stream, this.settings.group, entry[0]);
      },
      deliverAgain: async (delayMs) => {
        void waitFor(delayMs, this.stopping.signal).then(() => {
          if (this.stopping.signal.aborted) this.inHands.delete(key);
          else this.handle(key, stream, entry);
        });
      },
    });
  }

  private async connect(): Promise<Connections> {
    const { createClient, streams, group, startAt } = this.settings;
    const [reader, writer] = await Promise.all([openClient(createClient()), openClient(createClient())]);
    for (const stream of streams) {
      await writer.xgroup('CREATE', stream, group, startAt, 'MKSTREAM').catch((error: Error) => {
        if (!error.message.startsWith('BUSYGROUP')) throw error; // it is there, which is all that is asked for
      });
    }
    return { reader, writer };
  }

  private disconnect(): void {
    this.connections?.reader.disconnect();
    this.connections?.writer.disconnect();
    this.connections = undefined;
  }
}
