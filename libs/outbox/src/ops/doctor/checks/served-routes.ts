import { type Check, ok, problem, warning } from '../finding.js';
import { namesInWords } from '../in-words.js';

/** A dispatcher writes down a destination when it begins to serve it. */
export const servedRoutesCheck: Check = {
  name: 'served destinations',
  isAtStart: false,
  async look({ database, outbox }) {
    if (outbox?.options === undefined) return undefined;
    const { destinations, routes } = outbox.options;
    const served = new Set((await outbox.destinations.list()).map(({ destination }) => destination));
    const unserved = [...destinations.keys()].filter((name) => !served.has(name) && routes.typesTo(name).length > 0);
    if (unserved.length === 0) return ok(`each of the ${destinations.size} destinations has a dispatcher, or had one`);
    const queued = new Set(await database.queuedDestinations(outbox.names));
    const waiting = unserved.filter((name) => queued.has(name));
    const advice = 'Start a process with "dispatcher.enabled" and this configuration.';
    if (waiting.length > 0) {
      return problem(`events wait for ${namesInWords(waiting)}, and no dispatcher has ever served that`, advice);
    }
    return warning(`events are routed to ${namesInWords(unserved)}, and no dispatcher has ever served that`, advice);
  },
};
