import type { BenchDatabase } from '../measure/bench-server.js';
import { CountingTransport } from './counting-transport.js';
import { type Library, startLibrary } from './library.js';

/** An application with the library's defaults and nothing to do. */
export function startIdleInstance(database: Pick<BenchDatabase, 'url'>): Promise<Library> {
  return startLibrary(database, {
    destination: { transport: new CountingTransport() },
    dispatcher: { schedule: 'loop' },
  });
}
