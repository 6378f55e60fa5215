import type { Plot } from '../targets/target.js';
import type { SoakSample } from './sampler.js';

export function soakPlots(samples: readonly SoakSample[]): readonly Plot[] {
  const plot = (title: string, yLabel: string, series: Readonly<Record<string, keyof SoakSample>>): Plot => ({
    title: `Soak: ${title}`,
    kind: 'lines',
    xLabel: 'minutes',
    yLabel,
    series: Object.entries(series).map(([name, key]) => ({
      name,
      points: samples.map((sample) => [sample.minute, sample[key]] as const),
    })),
  });
  return [
    plot('events emitted and delivered', 'events per second', {
      emitted: 'emittedPerSecond',
      'delivered, healthy destination': 'steadyPerSecond',
      'delivered, failing destination': 'shakyPerSecond',
    }),
    plot('from COMMIT to publish, healthy destination', 'milliseconds', {
      median: 'p50Ms',
      '99th percentile': 'p99Ms',
    }),
    plot('size of the tables with their indexes', 'MiB', {
      'delivery queue': 'queueMebibytes',
      'event log': 'logMebibytes',
    }),
    plot('dead tuples and deliveries that wait', 'rows', {
      'dead in the queue': 'queueDeadTuples',
      'dead in the event log': 'logDeadTuples',
      'deliveries that wait': 'backlog',
    }),
    plot('memory of the process', 'MiB', {
      'resident set': 'residentMebibytes',
      'heap in use, after collection': 'heapMebibytes',
    }),
    plot('open handles and connections', 'number', { 'open handles': 'openHandles', connections: 'connections' }),
  ];
}
