/** Middle value of a list that is not empty; of an even number, the mean of the two in the middle. */
export function median(samples: readonly number[]): number {
  return percentile(samples, 0.5);
}

/** Value below which the given share (0 to 1) of the samples lies, interpolated between neighbours. */
export function percentile(samples: readonly number[], share: number): number {
  if (samples.length === 0) throw new Error('there is no sample to take a percentile of');
  const sorted = [...samples].sort((a, b) => a - b);
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}
