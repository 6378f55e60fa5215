import type { PublishedSlice } from './drain-together.js';

/** Share of each name in what was published, in percent, by name. */
export function sharesOf(
  slices: readonly PublishedSlice[],
  by: 'process' | 'destination',
): ReadonlyMap<string, number> {
  const all = slices.reduce((sum, { events }) => sum + events, 0);
  const counts = new Map<string, number>();
  for (const slice of slices) counts.set(slice[by], (counts.get(slice[by]) ?? 0) + slice.events);
  return new Map([...counts].sort().map(([name, events]) => [name, (100 * events) / all]));
}

/** Thousand events that each destination had got, at some moments of the run. */
export function progressOf(
  slices: readonly PublishedSlice[],
  destination: string,
): [second: number, thousand: number][] {
  const ofDestination = slices.filter((slice) => slice.destination === destination);
  const end = Math.max(...slices.map(({ second }) => second));
  const moments = Array.from({ length: 21 }, (_, index) => (end * index) / 20);
  return moments.map((moment) => {
    const until = ofDestination.filter(({ second }) => second <= moment);
    return [moment, until.reduce((sum, { events }) => sum + events, 0) / 1000];
  });
}

/** How far two destinations were apart at most, in percent of the backlog of one. */
export function widestGap(slices: readonly PublishedSlice[], [a, b]: readonly [string, string]): number {
  const first = progressOf(slices, a);
  const second = progressOf(slices, b);
  const backlog = first.at(-1)?.[1] ?? 1;
  return Math.max(...first.map(([, events], index) => (100 * Math.abs(events - (second[index]?.[1] ?? 0))) / backlog));
}
