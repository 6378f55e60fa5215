import { wallClockMs } from '../../../runtime/index.js';
import type { Partition } from '../../../store/index.js';
import { type Check, ok, warning } from '../finding.js';

const DAY_MS = 86_400_000;
const AHEAD_DAYS = 2;
const BOUNDS = /FROM \((.+)\) TO \((.+)\)/;

/** Rows for which no partition is there go into the default one, which cannot be dropped by day. */
export const partitionsCheck: Check = {
  name: 'partitions',
  isAtStart: true,
  async look({ database, outbox }) {
    if (outbox === undefined) return undefined;
    const partitions = await database.partitions(outbox.names);
    if (partitions.length === 0) return undefined;
    const fallback = partitions.find(({ bound }) => bound === 'DEFAULT');
    if (fallback !== undefined && fallback.bytes > 0) {
      return warning(
        `the default partition ${fallback.name} is in use, ${Math.ceil(fallback.bytes / 1024)} KiB: at some time there was no partition ahead`,
        'Make partitions ahead regularly; what is in the default partition goes by retention, row by row.',
      );
    }
    const then = firstIdOf(wallClockMs() + AHEAD_DAYS * DAY_MS);
    if (!partitions.some((partition) => holds(partition, then))) {
      return warning(
        `there is no partition for the day after tomorrow${fallback === undefined ? ', and no default one: emit() will fail' : ''}`,
        'Make partitions ahead regularly, at least once a day.',
      );
    }
    return ok(`${partitions.length} partitions, made ahead for ${AHEAD_DAYS} days or more`);
  },
};

/** The smallest UUID v7 of a moment: its first 48 bits are the time. */
function firstIdOf(ms: number): string {
  const hex = Math.trunc(ms).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** UUIDs sort as their text does. */
function holds({ bound }: Partition, id: string): boolean {
  const [, from = '', to = ''] = BOUNDS.exec(bound) ?? [];
  if (from === '') return false;
  const isAfterStart = from === 'MINVALUE' || from.replaceAll("'", '') <= id;
  return isAfterStart && (to === 'MAXVALUE' || id < to.replaceAll("'", ''));
}
