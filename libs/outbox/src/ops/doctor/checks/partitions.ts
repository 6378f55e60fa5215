import { coversDay, DAY_MS, startOfDay } from '../../../store/index.js';
import { type Check, ok, warning } from '../finding.js';

const AHEAD_DAYS = 2;

/** Rows for which no partition is there go into the default one, which cannot be dropped by day. */
export const partitionsCheck: Check = {
  name: 'partitions',
  isAtStart: true,
  async look({ database, outbox }) {
    if (outbox === undefined) return undefined;
    const { isPartitioned, nowMs, partitions } = await database.logLayout(outbox.names);
    if (!isPartitioned) return undefined;
    const fallback = partitions.find(({ kind }) => kind === 'default');
    if (fallback !== undefined && !(await database.isEmpty(outbox.names, fallback.name))) {
      return warning(
        `the default partition ${fallback.name} holds events: at some time there was no partition ahead`,
        'Make partitions ahead regularly; what is in the default partition goes by retention, row by row.',
      );
    }
    const then = startOfDay(nowMs) + AHEAD_DAYS * DAY_MS;
    if (!partitions.some((partition) => coversDay(partition, then))) {
      return warning(
        `there is no partition for the day after tomorrow${fallback === undefined ? ', and no default one: emit() will fail' : ''}`,
        'Make partitions ahead regularly, at least once a day.',
      );
    }
    return ok(`${partitions.length} partitions, made ahead for ${AHEAD_DAYS} days or more`);
  },
};
