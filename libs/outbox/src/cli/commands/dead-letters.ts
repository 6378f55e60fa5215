import type { Command } from 'commander';
import type { DeadLetterFilter } from '../../store/index.js';
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
  withLimit,
  withRate,
  withRecordedChange,
  withTimes,
} from '../command.js';
import { counted } from '../print/counted.js';
import { givenOf, requireKnownDestination, requireSelection } from '../selection.js';
import type { OutboxServices } from '../services.js';
import { deadLetterDetails, deadLetterTable } from './dead-letter-words.js';

interface FilterOptions extends Omit<DeadLetterFilter, 'ids'> {
  readonly all?: boolean;
}

export function addDeadLetters(shelf: Shelf): void {
  const group = shelf.program.command('dead-letters').description('events that were given up');
  withLimit(withFilter(addCommand(shelf, group, 'list', 'show them, oldest first', list)));
  addCommand(shelf, group, 'show <id>', 'show one with its attempts', show).option(
    '--payload',
    'its headers and payload too, which may be confidential',
  );
  withRate(
    withAll(withRecordedChange(withFilter(addCommand(shelf, group, 'redrive [ids...]', 'try them again', redrive)))),
  ).option('--limit <count>', 'the oldest ones, at most so many', wholeNumber(1, 2_147_483_647));
  withAll(
    withRecordedChange(withFilter(addCommand(shelf, group, 'discard [ids...]', 'give them up for good', discard))),
  );
}

function withFilter(command: Command): Command {
  return withTimes(withAggregate(command), 'created').option('--type <type>', 'of this event type');
}

async function list({ session, options }: Call<FilterOptions & { readonly limit: number }>): Promise<Answer> {
  const services = await session.outbox();
  const filter = filterOf(options, []);
  await requireKnownDestination(filter.destination, session, services);
  const letters = await services.deadLetters.list(filter, { limit: options.limit });
  const total = letters.length < options.limit ? letters.length : await services.deadLetters.count(filter);
  return { data: { total, deadLetters: letters }, text: deadLetterTable(letters, total) };
}

async function show({ session, options, args }: Call<{ readonly payload?: boolean }>): Promise<Answer> {
  const { deadLetters } = await session.outbox();
  const [id = ''] = args;
  const found = await deadLetters.show(id);
  if (found === undefined) throw new Failure(`there is no dead letter ${id}, or not any more.`);
  const { headers, payload, ...rest } = found;
  const data = options.payload ? { ...rest, headers, payload } : rest;
  return { data, text: deadLetterDetails(data) };
}

type Change = FilterOptions & RecordedChangeOptions & { readonly limit?: number; readonly perSecond?: number };

async function redrive(call: Call<Change>): Promise<Answer> {
  const { options, terminal } = call;
  const change = changeBy(options);
  const { filter, count, deadLetters } = await selected(call);
  const { limit, perSecond } = options;
  const chosen = Math.min(count, limit ?? count);
  const rate = perSecond === undefined ? '' : ` at ${perSecond} a second`;
  const plan = { says: `Redrive ${counted(chosen, 'dead letter')}${rate}.`, data: { selected: chosen } };
  return approved(plan, options, terminal, async () => {
    const redriven = await deadLetters.redrive(filter, change, givenOf({ limit, perSecond }));
    return { data: { redriven }, text: `${counted(redriven, 'dead letter')} redriven.` };
  });
}

async function discard(call: Call<Change>): Promise<Answer> {
  const { options, terminal } = call;
  const change = changeBy(options);
  const { filter, count, deadLetters } = await selected(call);
  const says = `Discard ${counted(count, 'dead letter')}: they will never be delivered.`;
  return approved({ says, data: { selected: count } }, options, terminal, async () => {
    const discarded = await deadLetters.discard(filter, change);
    return { data: { discarded }, text: `${counted(discarded, 'dead letter')} discarded.` };
  });
}

/** @throws UsageError when that would be everything; Failure when it is nothing. */
async function selected({ session, options, args }: Call<Change>): Promise<{
  readonly filter: DeadLetterFilter;
  readonly count: number;
  readonly deadLetters: OutboxServices['deadLetters'];
}> {
  const given = filterOf(options, args);
  requireSelection(given, options.all);
  const services = await session.outbox();
  await requireKnownDestination(given.destination, session, services);
  // Not what dies while somebody thinks about the answer.
  const filter = options.all ? { createdBefore: await services.database.clock() } : given;
  const count = await services.deadLetters.count(filter);
  if (count === 0) throw new Failure('no dead letter matches. Nothing was changed.');
  return { filter, count, deadLetters: services.deadLetters };
}

function filterOf(options: FilterOptions, ids: readonly string[]): DeadLetterFilter {
  const { destination, type, aggregateType, aggregateId, createdBefore, createdAfter } = options;
  return givenOf({
    destination,
    type,
    aggregateType,
    aggregateId,
    createdBefore,
    createdAfter,
    ids: ids.length === 0 ? undefined : ids,
  }) as DeadLetterFilter; // nothing in it is undefined
}
