const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

/** A duration for people, in the largest unit that leaves something to say: `3 days`, `90 seconds`, `20 ms`. */
export function durationInWords(ms: number): string {
  const [unit, size] = UNITS.find(([, length]) => ms >= 2 * length) ?? ['ms', 1];
  const count = Math.round(ms / size);
  return unit === 'ms' ? `${count} ms` : `${count} ${unit}s`;
}

/** The first five, and how many more there are. */
export function namesInWords(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}
