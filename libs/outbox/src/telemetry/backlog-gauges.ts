import type { Attributes } from '@opentelemetry/api';
import { ATTRIBUTES } from './attributes.js';
import { libraryMeter } from './scope.js';

/** What is observed of one destination. */
export interface BacklogFigures {
  readonly destination: string;
  readonly oldestUndeliveredMs: number | undefined;
  readonly pending: number;
  readonly processing: number;
  readonly expiredLeases: number;
  readonly dead: number;
}

/** Reads the backlog whenever metrics are collected. @returns ends the observation. */
export function observeBacklog(base: Attributes, read: () => Promise<readonly BacklogFigures[]>): () => void {
  const meter = libraryMeter();
  const oldestAge = meter.createObservableGauge('outbox.backlog.oldest_age', {
    unit: 's',
    description: 'Age of the oldest event that is neither delivered nor dead; 0 without one.',
  });
  const deliveries = meter.createObservableGauge('outbox.backlog.deliveries', {
    unit: '{delivery}',
    description: 'Undelivered events, by state: pending, processing, expired or dead.',
  });
  const observe: Parameters<typeof meter.addBatchObservableCallback>[0] = async (result) => {
    for (const figures of await read()) {
      const attributes = { ...base, [ATTRIBUTES.destination]: figures.destination };
      result.observe(oldestAge, (figures.oldestUndeliveredMs ?? 0) / 1000, attributes);
      const { pending, processing, expiredLeases: expired, dead } = figures;
      for (const [state, count] of Object.entries({ pending, processing, expired, dead }))
        result.observe(deliveries, count, { ...attributes, [ATTRIBUTES.state]: state });
    }
  };
  meter.addBatchObservableCallback(observe, [oldestAge, deliveries]);
  return () => meter.removeBatchObservableCallback(observe, [oldestAge, deliveries]);
}
