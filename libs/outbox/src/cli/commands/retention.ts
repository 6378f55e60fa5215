import { durationInWords } from '../../ops/index.js';
import type { Answer } from '../answer.js';
import { approved, type ChangeOptions } from '../approve.js';
import { durationMs, wholeNumber } from '../arguments.js';
import { UsageError } from '../cli-error.js';
import { addCommand, type Call, type Shelf, withChange } from '../command.js';
import { counted } from '../print/counted.js';
import { type ProgressOptions, progressOn } from '../progress.js';

interface RetentionCommandOptions extends ChangeOptions, ProgressOptions {
  readonly olderThan?: number;
  readonly batchSize?: number;
}

export function addRetention(shelf: Shelf): void {
  const group = shelf.program.command('retention').description('keep the tables small');
  withChange(addCommand(shelf, group, 'run', 'remove old events that were delivered everywhere', run))
    .option('--older-than <duration>', 'age, as 12h or 30d (default: that of the configuration)', durationMs)
    .option('--batch-size <rows>', 'rows removed by one statement (default: 1000)', wholeNumber(1, 100_000))
    .option('--progress', 'say how far it is');
}

async function run({ session, options, terminal }: Call<RetentionCommandOptions>): Promise<Answer> {
  const olderThanMs = options.olderThan ?? session.outboxOptions?.retention?.deliveredForMs;
  if (olderThanMs === undefined) {
    throw new UsageError('how old? Say --older-than 30d, or give the module its "retention".');
  }
  const { retention } = await session.outbox();
  const says = `Remove events that were delivered everywhere and are older than ${durationInWords(olderThanMs)}.`;
  return approved({ says, data: { olderThanMs } }, options, terminal, async () => {
    const progress = progressOn(terminal, options);
    progress.show('removing …');
    const { batchSize } = options;
    const pruned = await retention.prune({ olderThanMs, ...(batchSize && { batchSize }) }, terminal.signal);
    progress.end();
    const isStopped = terminal.signal.aborted;
    const text = `${counted(pruned.events, 'event')} and ${counted(pruned.deliveries, 'kept row')} removed${isStopped ? ', then stopped' : ''}.`;
    return { data: { ...pruned, isStopped }, text, isWrong: isStopped };
  });
}
