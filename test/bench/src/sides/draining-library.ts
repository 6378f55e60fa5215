import type { BenchDatabase } from '../measure/bench-server.js';
import { CountingTransport } from './counting-transport.js';
import { startLibrary } from './library.js';

export interface DrainSettings {
  readonly batchSize?: number;
  readonly batchesInFlight?: number;
}

/** The library with nothing to do but drain when it is told to; by default with its default settings. */
export interface DrainingLibrary {
  /**
   * Drains the backlog.
   *
   * @returns events per second.
   * @throws Error when other than `events` deliveries were published: the measurement is void.
   */
  drain(events: number): Promise<number>;
  close(): Promise<void>;
}

/** As many connections as batches in flight, so that no batch waits for one, and three of them at least, the default. */
export async function startDrainingLibrary(
  database: BenchDatabase,
  settings: DrainSettings = {},
  transport = new CountingTransport(),
): Promise<DrainingLibrary> {
  const library = await startLibrary(database, {
    destination: { transport, ...settings },
    dispatcher: { schedule: false, wakeUp: false, poolSize: Math.max(3, settings.batchesInFlight ?? 0) },
  });
  await library.dispatcher.drain(); // makes the destination known
  return {
    async drain(events) {
      const before = transport.count;
      const startedAt = performance.now();
      await library.dispatcher.drain();
      const perSecond = events / ((performance.now() - startedAt) / 1000);
      const published = transport.count - before;
      if (published !== events) throw new Error(`${published} deliveries were published instead of ${events}`);
      return perSecond;
    },
    close: () => library.close(),
  };
}
