import type { BlockedKey, BlockedKeyFilter } from '../../store/index.js';
import type { Answer } from '../answer.js';
import { approved, changeBy, type RecordedChangeOptions } from '../approve.js';
import { Failure } from '../cli-error.js';
import {
  addCommand,
  type Call,
  type Shelf,
  withAggregate,
  withAll,
  withLimit,
  withRecordedChange,
} from '../command.js';
import { counted } from '../print/counted.js';
import { table } from '../print/table.js';
import { when } from '../print/when.js';
import { givenOf, requireKnownDestination, requireSelection } from '../selection.js';

/** As many as the service shows at once. */
const MOST = 10_000;

export function addKeys(shelf: Shelf): void {
  const group = shelf.program.command('keys').description('aggregates whose events wait behind one of them');
  withLimit(withAggregate(addCommand(shelf, group, 'blocked', 'show them, oldest first', blocked)));
  withAll(
    withRecordedChange(
      withAggregate(addCommand(shelf, group, 'release', 'let what waits behind a dead letter pass it', release)),
    ),
  );
}

async function blocked({ session, options }: Call<BlockedKeyFilter & { readonly limit: number }>): Promise<Answer> {
  const services = await session.outbox();
  await requireKnownDestination(options.destination, session, services);
  const keys = await services.blockedKeys.list(filterOf(options), { limit: options.limit });
  return { data: { blockedKeys: keys }, text: keys.length === 0 ? 'No aggregate is held back.' : inWords(keys) };
}

async function release({
  session,
  options,
  terminal,
}: Call<BlockedKeyFilter & RecordedChangeOptions & { readonly all?: boolean }>): Promise<Answer> {
  const change = changeBy(options);
  const filter = filterOf(options);
  requireSelection(filter, options.all);
  const services = await session.outbox();
  await requireKnownDestination(filter.destination, session, services);
  const keys = await services.blockedKeys.list(filter, { limit: MOST });
  const dead = keys.filter(({ heldBy }) => heldBy.state === 'dead');
  if (dead.length === 0)
    throw new Failure('no aggregate that matches waits behind a dead letter. Nothing was changed.');
  const followers = dead.reduce((sum, key) => sum + key.followers, 0);
  const atLeast = keys.length === MOST ? 'at least ' : '';
  const says = `Release ${atLeast}${counted(dead.length, 'aggregate')}: ${counted(followers, 'event')} will pass the dead letters before them.`;
  const filters = options.all
    ? [...new Set(dead.map(({ destination }) => destination))].map((destination) => ({ destination }))
    : [filter];
  return approved({ says, data: { selected: dead.length, followers } }, options, terminal, async () => {
    let released = 0;
    for (const each of filters) released += await services.blockedKeys.release(each, change);
    return { data: { released }, text: `${counted(released, 'aggregate')} released.` };
  });
}

function filterOf({ destination, aggregateType, aggregateId }: BlockedKeyFilter): BlockedKeyFilter {
  return givenOf({ destination, aggregateType, aggregateId }) as BlockedKeyFilter; // nothing in it is undefined
}

function inWords(keys: readonly BlockedKey[]): string {
  return table(keys, [
    ['destination', ({ destination }) => destination],
    ['aggregate', ({ aggregateType, aggregateId }) => `${aggregateType ?? '?'} ${aggregateId ?? '?'}`],
    ['behind it', ({ followers }) => followers],
    ['held by', ({ heldBy }) => `${heldBy.id} ${heldBy.type ?? ''}`],
    ['state', ({ heldBy }) => (heldBy.state === 'dead' ? 'dead' : `next attempt ${when(heldBy.availableAt)}`)],
    ['error', ({ heldBy }) => heldBy.error],
  ]);
}
