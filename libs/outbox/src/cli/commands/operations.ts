import type { Answer } from '../answer.js';
import { addCommand, type Call, type Shelf, withLimit } from '../command.js';
import { table } from '../print/table.js';
import { when } from '../print/when.js';

export function addOperations(shelf: Shelf): void {
  withLimit(addCommand(shelf, shelf.program, 'operations', 'who changed what by hand, newest first', work));
}

async function work({ session, options }: Call<{ readonly limit: number }>): Promise<Answer> {
  const operations = await (await session.outbox()).operations.list({ limit: options.limit });
  const shown = table(operations, [
    ['id', ({ id }) => id],
    ['at', ({ at }) => when(at)],
    ['by', ({ by }) => by],
    ['action', ({ action }) => action],
    ['affected', ({ affected }) => affected],
    ['what', ({ details }) => JSON.stringify(details)],
    ['reason', ({ reason }) => reason],
  ]);
  return { data: { operations }, text: operations.length === 0 ? 'Nothing was changed by hand yet.' : shown };
}
