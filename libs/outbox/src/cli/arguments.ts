import { InvalidArgumentError } from 'commander';

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/** Parsers of option values; what they throw, the program says, and exits with 2. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** `90s`, `30m`, `12h`, `7d`. */
export function durationMs(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count === '') throw new InvalidArgumentError('It must be a number with s, m, h or d, as 90s or 30d.');
  return Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS]; // the expression lets no other unit through
}

/** A date, which is midnight UTC, or a time with or without a zone; without one it is UTC. */
export function moment(text: string): Date {
  const isTimeWithoutZone = /T[\d:.]+$/.test(text);
  const date = DATE.test(text) ? new Date(isTimeWithoutZone ? `${text}Z` : text) : new Date(Number.NaN);
  if (!Number.isNaN(date.getTime())) return date;
  throw new InvalidArgumentError('It must be a date or a time, as 2026-01-31 or 2026-01-31T10:00:00Z.');
}
