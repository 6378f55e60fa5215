import type { ReplayFilter, ReplayPreview } from '../../store/index.js';
import type { Answer } from '../answer.js';
import { approved, changeBy, type RecordedChangeOptions } from '../approve.js';
import { wholeNumber } from '../arguments.js';
import { Failure } from '../cli-error.js';
import {
  addCommand,
  type Call,
  type Shelf,
  withAggregate,
  withAll,
  withRate,
  withRecordedChange,
  withTimes,
} from '../command.js';
import { counted } from '../print/counted.js';
import { table } from '../print/table.js';
import { when } from '../print/when.js';
import { type ProgressOptions, progressOn } from '../progress.js';
import { givenOf, requireKnownDestination, requireSelection } from '../selection.js';

interface ReplayCommandOptions extends ReplayFilter, RecordedChangeOptions, ProgressOptions {
  readonly all?: boolean;
  readonly perSecond?: number;
  readonly atMost?: number;
}

export function addReplay(shelf: Shelf): void {
  const command = addCommand(shelf, shelf.program, 'replay [event-ids...]', 'send delivered events again', replay);
  withRate(withAll(withRecordedChange(withTimes(withAggregate(command), 'emitted'))))
    .option('--type <type>', 'of this event type')
    .option('--at-most <count>', 'refuse to send more (default: 100000)', wholeNumber(1, 1_000_000))
    .option('--progress', 'say how far it is');
}

async function replay({ session, options, args, terminal }: Call<ReplayCommandOptions>): Promise<Answer> {
  const change = changeBy(options);
  const { perSecond, atMost } = options;
  const given = filterOf(options, args);
  requireSelection(given, options.all);
  const services = await session.outbox();
  await requireKnownDestination(given.destination, session, services);
  const filter = options.all ? { emittedBefore: await services.database.clock() } : given;
  const preview = await services.replays.preview(filter);
  const total = preview.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) throw new Failure('no delivered event matches. Nothing was changed.');
  const says = `Send ${counted(total, 'event')} again.`;
  return approved({ says, details: inWords(preview), data: { preview } }, options, terminal, async () => {
    const progress = progressOn(terminal, options);
    const queued = await services.replays.replay(filter, change, {
      ...givenOf({ perSecond, atMost }),
      signal: terminal.signal,
      onProgress: (done, of) => progress.show(`${done} of ${of} queued`),
    });
    progress.end();
    const isStopped = terminal.signal.aborted;
    return {
      data: { queued, isStopped },
      text: `${queued} queued${isStopped ? ', then stopped' : ''}.`,
      isWrong: isStopped,
    };
  });
}

function filterOf(options: ReplayCommandOptions, eventIds: readonly string[]): ReplayFilter {
  const { destination, type, aggregateType, aggregateId, emittedBefore, emittedAfter } = options;
  return givenOf({
    destination,
    type,
    aggregateType,
    aggregateId,
    emittedBefore,
    emittedAfter,
    eventIds: eventIds.length === 0 ? undefined : eventIds,
  }) as ReplayFilter; // nothing in it is undefined
}

function inWords(preview: readonly ReplayPreview[]): string {
  return table(preview, [
    ['destination', ({ destination }) => destination],
    ['events', ({ count }) => count],
    ['oldest', ({ oldest }) => when(oldest)],
    ['newest', ({ newest }) => when(newest)],
  ]);
}
