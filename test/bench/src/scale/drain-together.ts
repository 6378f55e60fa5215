import type { ScaleProcess } from './scale-process.js';

/** What one process published for one destination up to a moment. */
export interface PublishedSlice {
  /** Seconds since the processes were told to begin. */
  readonly second: number;
  readonly process: string;
  readonly destination: string;
  readonly events: number;
}

export interface CommonDrain {
  readonly perSecond: number;
  readonly slices: readonly PublishedSlice[];
}

/**
 * Lets the processes work off one backlog together, from one moment on, until each delivery was published.
 *
 * @param onHalf called once, when half of them were.
 */
export async function drainTogether(
  processes: readonly ScaleProcess[],
  deliveries: number,
  onHalf: () => Promise<void> = async () => undefined,
): Promise<CommonDrain> {
  const slices: PublishedSlice[] = [];
  let published = 0;
  let half: Promise<void> | undefined;
  const startedAt = Date.now();
  const done = new Promise<void>((resolve) => {
    for (const process of processes) {
      process.on((report) => {
        if (report.report !== 'published') return;
        const second = (report.at - startedAt) / 1000;
        for (const [destination, events] of Object.entries(report.counts)) {
          slices.push({ second, process: process.name, destination, events });
          published += events;
        }
        if (published >= deliveries / 2) half ??= onHalf();
        if (published >= deliveries) resolve();
      });
    }
  });
  for (const process of processes) process.tell({ command: 'drain' });
  await done;
  const stopped = Promise.all(processes.map((process) => process.next('stopped')));
  for (const process of processes) process.tell({ command: 'stop' });
  await Promise.all([stopped, half]);
  for (const process of processes) process.forget();
  return { perSecond: deliveries / Math.max(...slices.map(({ second }) => second)), slices };
}
