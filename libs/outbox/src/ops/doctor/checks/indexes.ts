import type { OutboxNames } from '../../../store/index.js';
import { type Check, ok, problem } from '../finding.js';
import { namesInWords } from '../in-words.js';

/** Without one of them the statements still answer, after reading the whole table each time. */
export const indexesCheck: Check = {
  name: 'indexes',
  isAtStart: true,
  async look({ database, outbox, inbox }) {
    const wanted = [...(outbox === undefined ? [] : indexesOf(outbox.names)), ...(inbox?.indexes ?? [])];
    const states = await database.indexes(wanted);
    const missing = states.filter(({ isPresent }) => !isPresent).map(({ name }) => name);
    const broken = states.filter(({ isPresent, isUsable }) => isPresent && !isUsable).map(({ name }) => name);
    if (missing.length > 0) {
      return problem(
        `missing: ${namesInWords(missing)}`,
        'Create them again as `outbox sql` prints them, with `create index concurrently`.',
      );
    }
    if (broken.length > 0) {
      return problem(`there, but not valid: ${namesInWords(broken)}`, 'Run `reindex index concurrently` on each.');
    }
    return ok(`all ${states.length} are there and valid`);
  },
};

function indexesOf(names: OutboxNames): string[] {
  const delivery = ['event', 'unordered', 'lane', 'holding', 'dead', 'archived'];
  const indexes = [names.index('event', 'created_at'), ...delivery.map((suffix) => names.index('delivery', suffix))];
  return indexes.map((index) => `${names.schema}.${index}`);
}
