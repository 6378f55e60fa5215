export { monotonicMs, wallClockMs } from './clock.js';
export { rememberContext } from './detached.js';
export { fullJitterMs } from './full-jitter.js';
export { logLine } from './log-line.js';
export { type Random, systemRandom } from './random.js';
export { Recurrence } from './recurrence.js';
export { Signal } from './signal.js';
export { waitFor } from './wait.js';
export { within } from './within.js';
