import { prefixedAttributes } from '../../libs/outbox/src/inbox/cloud-event/prefixed-attributes.js';
import { readCloudEvent } from '../../libs/outbox/src/inbox/cloud-event/read-cloud-event.js';
import type { HeldEvent } from '../../libs/outbox/src/testing/transport-contract/index.js';

/** What stands in a broker, read by the inbox's own reader. */
export function binaryEvent(
  headers: Iterable<readonly [string, string]>,
  prefix: string,
  contentType: string | undefined,
  body: string,
): HeldEvent {
  return held({
    mediaType: contentType ?? '',
    body,
    attributesAre: `${prefix} headers`,
    attributes: () => prefixedAttributes(headers, prefix),
  });
}

export function structuredEvent(body: string): HeldEvent {
  return held({ mediaType: 'application/cloudevents+json', body, attributesAre: 'none', attributes: () => ({}) });
}

function held(message: Parameters<typeof readCloudEvent>[0]): HeldEvent {
  const { id, type, payload, headers, aggregateId, sequence } = readCloudEvent(message);
  return { id, type, payload, headers, aggregateId, sequence };
}

/** Takes what comes one by one until there are `count`. @throws when they do not come in time. */
export class Arrivals<T> {
  private readonly waiting: T[] = [];
  private wake: () => void = () => undefined;

  add(...items: T[]): void {
    this.waiting.push(...items);
    this.wake();
  }

  async take(count: number, timeoutMs = 10_000): Promise<T[]> {
    const deadline = performance.now() + timeoutMs;
    while (this.waiting.length < count) {
      const remaining = deadline - performance.now();
      if (remaining <= 0) throw new Error(`${this.waiting.length} of ${count} events came within ${timeoutMs} ms`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, remaining);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return this.waiting.splice(0);
  }
}
