import { type Check, ok, warning } from '../finding.js';
import { durationInWords, namesInWords } from '../in-words.js';

/** Time for what comes after the last moment of a publish: the answer, the way to PostgreSQL, and its commit. */
const LEAST_MARGIN_MS = 1000;

/** That a lease is longer than a publish at all is refused by the options themselves. */
export const leaseCheck: Check = {
  name: 'lease',
  isAtStart: true,
  look({ outbox }) {
    if (outbox?.options === undefined) return undefined;
    const destinations = [...outbox.options.destinations.values()];
    const tight = destinations.filter(({ leaseMs, publishTimeoutMs }) => leaseMs - publishTimeoutMs < LEAST_MARGIN_MS);
    if (tight.length > 0) {
      return warning(
        `"leaseMs" exceeds "publishTimeoutMs" by less than ${LEAST_MARGIN_MS} ms at ${namesInWords(tight.map(({ name }) => name))}: a publish that takes its time is done twice`,
        'Raise "leaseMs", or lower "publishTimeoutMs".',
      );
    }
    const margins = destinations.map(({ leaseMs, publishTimeoutMs }) => leaseMs - publishTimeoutMs);
    if (margins.length === 0) return ok('no destinations, no leases');
    return ok(`each lease outlives its longest publish, by ${durationInWords(Math.min(...margins))} or more`);
  },
};
