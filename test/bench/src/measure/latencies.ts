/** Milliseconds of the machine's monotonic clock, which all of its processes share. */
export function monotonicNowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** When something happened, by its id. */
export type Moments = readonly (readonly [id: string, atMs: number])[];

/** Milliseconds from each beginning to its end. @throws Error when an end is missing. */
export function latenciesOf(begun: Moments, ended: Moments): number[] {
  const ends = new Map<string, number>();
  // The first end counts: a second delivery of the same event is no delay of it.
  for (const [id, atMs] of ended) if (!ends.has(id)) ends.set(id, atMs);
  return begun.map(([id, atMs]) => {
    const end = ends.get(id);
    if (end === undefined) throw new Error(`${id} did not arrive, so the measurement is void`);
    return end - atMs;
  });
}

/** Points of the cumulative distribution, enough to draw it. */
export function cumulativeShares(latencies: readonly number[], points = 100): [ms: number, share: number][] {
  const sorted = [...latencies].sort((a, b) => a - b);
  return Array.from({ length: points }, (_, index) => {
    const share = (index + 1) / points;
    return [sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN, share];
  });
}

/** Calls `work` at a steady pace, one call after the other: a late one does not wait for its turn. */
export async function atPace(
  options: { readonly calls: number; readonly perSecond: number },
  work: (call: number) => Promise<unknown>,
): Promise<void> {
  const startedAt = monotonicNowMs();
  for (let call = 0; call < options.calls; call += 1) {
    const waitMs = startedAt + (call * 1000) / options.perSecond - monotonicNowMs();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    await work(call);
  }
}
