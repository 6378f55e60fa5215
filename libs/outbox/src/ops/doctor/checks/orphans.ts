import { type Check, ok, problem } from '../finding.js';
import { namesInWords } from '../in-words.js';

/** Dispatchers serve what their configuration names, and nothing else. */
export const orphansCheck: Check = {
  name: 'orphans',
  isAtStart: true,
  async look({ database, outbox }) {
    // A process that only emits need not be allowed to read the queue, and would not serve it.
    if (outbox?.options === undefined || !outbox.options.dispatcher.enabled) return undefined;
    const { destinations } = outbox.options;
    const unknown = (await database.queuedDestinations(outbox.names)).filter((name) => !destinations.has(name));
    if (unknown.length === 0) return ok('everything in the queue is for a destination of this configuration');
    return problem(
      `events are kept for ${namesInWords(unknown)}, which this configuration does not have`,
      'Put the destination back, also under its old name, until it is empty; or serve it by another process; dead letters can be discarded.',
    );
  },
};
