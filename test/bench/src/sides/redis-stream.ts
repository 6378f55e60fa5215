import { Redis } from 'ioredis';
import type { OutgoingEvent, PublishOutcome, Transport } from 'nestjs-transactional-outbox';

/** One XADD: the fields of an event, in pairs. */
export type StreamEntry = readonly string[];

const NO_ANSWER = [new Error('Redis did not answer')] as const;

/** A stream of its own in the server of REDIS_URL, or in the one of this machine; deleted by `close`. */
export class BenchStream {
  private constructor(
    private readonly client: Redis,
    private readonly name: string,
  ) {}

  /** Undefined when no server answers. */
  static async open(): Promise<BenchStream | undefined> {
    const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';
    const client = new Redis(url, { lazyConnect: true, connectTimeout: 2000, retryStrategy: () => null });
    // Without a listener ioredis prints each of them; the rejection of connect() says the same.
    client.on('error', () => undefined);
    try {
      await client.connect();
    } catch {
      client.disconnect();
      return undefined;
    }
    return new BenchStream(client, `outbox-bench:${process.pid}`);
  }

  /** Adds all entries in one round trip; answers for each one why it was not added, or null. */
  async add(entries: readonly StreamEntry[]): Promise<readonly (Error | null)[]> {
    const pipeline = this.client.pipeline();
    for (const fields of entries) pipeline.xadd(this.name, '*', ...fields);
    const answers = (await pipeline.exec()) ?? [];
    return entries.map((_, index) => (answers[index] ?? NO_ANSWER)[0]);
  }

  length(): Promise<number> {
    return this.client.xlen(this.name);
  }

  async clear(): Promise<void> {
    await this.client.del(this.name);
  }

  async close(): Promise<void> {
    await this.clear();
    await this.client.quit();
  }
}

/** A transport as a user would write it: one pipelined XADD for each event of the batch. */
export class RedisStreamTransport implements Transport {
  readonly capabilities = { batch: true, keepsOrderPerKey: false, deduplicates: false };

  constructor(private readonly stream: BenchStream) {}

  async publish(batch: readonly OutgoingEvent[]): Promise<readonly PublishOutcome[]> {
    const errors = await this.stream.add(
      batch.map(({ envelope }) => entryOf(envelope, JSON.stringify(envelope.payload))),
    );
    return errors.map((error) => (error === null ? { kind: 'delivered' } : { kind: 'retry', error: error.message }));
  }
}

/** What a consumer needs of an event. */
export function entryOf(event: { id: string; type: string; aggregateId: string }, payload: string): StreamEntry {
  return ['id', event.id, 'type', event.type, 'aggregate', event.aggregateId, 'payload', payload];
}
