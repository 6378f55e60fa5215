import type { BreakerStore, TripRequest } from '../store/index.js';
import type { InMemoryQueue } from './in-memory-queue.js';

export class InMemoryBreakerStore implements BreakerStore {
  constructor(private readonly queue: InMemoryQueue) {}

  async trip(request: TripRequest): Promise<number> {
    const { queue } = this;
    const destination = queue.destinations.get(request.destination);
    if (destination === undefined) return 0;
    const now = queue.clock();
    if (request.isProbe || destination.failures === 0) {
      destination.resumeAt = now + pauseMs(request, destination.failures);
      destination.failures += 1;
    }
    return Math.min(pauseMs(request, destination.failures), Math.max(0, destination.resumeAt - now));
  }

  async close(destination: string): Promise<void> {
    const known = this.queue.destinations.get(destination);
    if (known !== undefined) Object.assign(known, { failures: 0, resumeAt: 0 });
  }

  async giveProbeBack(destination: string): Promise<void> {
    const known = this.queue.destinations.get(destination);
    if (known !== undefined && known.failures > 0) known.resumeAt = this.queue.clock();
  }
}

function pauseMs({ baseMs, capMs, jitter }: TripRequest, failures: number): number {
  return Math.min(capMs, baseMs * 2 ** Math.min(failures, 40)) * jitter;
}

export type Passage =
  | { readonly kind: 'open'; readonly isProbe: boolean }
  | { readonly kind: 'paused'; readonly resumeMs: number }
  | { readonly kind: 'nothing'; readonly isProbe: false };

/** Whether a claim may take something. The one that comes after a pause is the probe; others wait a lease for it. */
export function passBreaker(queue: InMemoryQueue, destination: string, leaseMs: number): Passage {
  const known = queue.destinations.get(destination);
  if (known === undefined) return { kind: 'nothing', isProbe: false };
  if (known.failures === 0) return { kind: 'open', isProbe: false };
  const now = queue.clock();
  if (known.resumeAt > now) return { kind: 'paused', resumeMs: known.resumeAt - now };
  known.resumeAt = now + leaseMs;
  return { kind: 'open', isProbe: true };
}
