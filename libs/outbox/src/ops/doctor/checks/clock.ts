import { wallClockMs } from '../../../runtime/index.js';
import { type Check, ok, warning } from '../finding.js';
import { durationInWords } from '../in-words.js';

/** Leases are by the database's clock alone; ids of events, signatures and what people read are not. */
const MUCH_MS = 2000;

export const clockCheck: Check = {
  name: 'clocks',
  isAtStart: true,
  async look({ database }) {
    await database.clock(); // opens a connection, which is not to be measured
    const asked = wallClockMs();
    const there = (await database.clock()).getTime();
    const answered = wallClockMs();
    // Anything between the two was the time here when the database looked.
    const offMs = there < asked ? asked - there : Math.max(0, there - answered);
    if (offMs <= MUCH_MS) return ok(`this machine and the database differ by ${durationInWords(offMs)} or less`);
    return warning(
      `this machine and the database differ by ${durationInWords(offMs)}: ids of events and signatures carry a wrong time`,
      'Let both keep their clocks by NTP.',
    );
  },
};
