import type { Answer } from '../answer.js';
import { approved, changeBy, type RecordedChangeOptions } from '../approve.js';
import { addCommand, type Call, type Shelf, withRecordedChange } from '../command.js';
import { requireKnownDestination } from '../selection.js';

export function addPauseAndResume(shelf: Shelf): void {
  withRecordedChange(
    addCommand(shelf, shelf.program, 'pause <destination>', 'let no dispatcher take anything for it', pause),
  );
  withRecordedChange(addCommand(shelf, shelf.program, 'resume <destination>', 'let the dispatchers go on', resume));
}

async function pause({ session, options, args, terminal }: Call<RecordedChangeOptions>): Promise<Answer> {
  const change = changeBy(options);
  const [destination = ''] = args;
  const services = await session.outbox();
  await requireKnownDestination(destination, session, services);
  const says = `Pause ${destination}: its events are stored and wait until it is resumed.`;
  return approved({ says, data: { destination } }, options, terminal, async () => {
    const isChanged = await services.destinations.pause(destination, change);
    return { data: { destination, isChanged }, text: `${destination} ${isChanged ? 'is' : 'was already'} paused.` };
  });
}

async function resume({ session, options, args, terminal }: Call<RecordedChangeOptions>): Promise<Answer> {
  const change = changeBy(options);
  const [destination = ''] = args;
  const services = await session.outbox();
  await requireKnownDestination(destination, session, services);
  return approved({ says: `Resume ${destination}.`, data: { destination } }, options, terminal, async () => {
    const isChanged = await services.destinations.resume(destination, change);
    return { data: { destination, isChanged }, text: `${destination} ${isChanged ? 'goes on' : 'was not paused'}.` };
  });
}
