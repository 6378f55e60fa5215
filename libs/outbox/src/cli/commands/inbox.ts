import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { outboxToken } from '../../config/index.js';
import { describeError } from '../../errors/index.js';
import { ParkedMessageService } from '../../inbox/index.js';
import type { ParkedMessage, ParkedMessageFilter } from '../../store/index.js';
import type { Answer } from '../answer.js';
import { approved, type ChangeOptions } from '../approve.js';
import { CliError, Failure, UsageError } from '../cli-error.js';
import { addCommand, type Call, type Shelf, withAll, withChange, withLimit } from '../command.js';
import { counted } from '../print/counted.js';
import { table } from '../print/table.js';
import { when } from '../print/when.js';
import { givenOf, requireSelection } from '../selection.js';

const MOST = 10_000;

interface FilterOptions {
  readonly consumer?: string;
}

type InboxChange = FilterOptions & ChangeOptions & { readonly all?: boolean };

export function addInbox(shelf: Shelf): void {
  const group = shelf.program.command('inbox').description('messages that a consumer could not process');
  withLimit(withConsumer(addCommand(shelf, group, 'parked', 'show them, oldest first', parked)));
  withAll(
    withChange(
      withConsumer(addCommand(shelf, group, 'redrive [ids...]', 'process them now, by the application', redrive)),
    ),
  );
  withAll(withChange(withConsumer(addCommand(shelf, group, 'discard [ids...]', 'drop them for good', discard))));
}

function withConsumer(command: Command): Command {
  return command.option('--consumer <name>', 'of this consumer');
}

async function parked({ session, options }: Call<FilterOptions & { readonly limit: number }>): Promise<Answer> {
  const { failed } = await session.inbox();
  const messages = await failed.list(filterOf(options, []), options.limit);
  return {
    // The message itself may be confidential, and is in the table.
    data: { parked: messages.map(({ body, headers, ...rest }) => ({ ...rest, bytes: body.length })) },
    text: messages.length === 0 ? 'No parked messages.' : inWords(messages),
  };
}

async function redrive(call: Call<InboxChange>): Promise<Answer> {
  const { session, options, terminal } = call;
  const { app } = session.config ?? {};
  if (app === undefined) {
    throw new UsageError(
      'redriving calls the handlers of the application. Give the configuration "app", a function that starts it. Nothing was changed.',
    );
  }
  const { filter, count } = await selected(call);
  const says = `Process ${counted(count, 'parked message')} now.`;
  return approved({ says, data: { selected: count } }, options, terminal, async () => {
    const application = await started(app);
    try {
      const token = outboxToken(ParkedMessageService, undefined);
      const result = await application
        .get<ParkedMessageService>(token, { strict: false })
        .redrive({ ...filter, limit: MOST });
      const { processed, failed } = result;
      return {
        data: result,
        text: `${processed.length} processed${failed.length === 0 ? '' : `, ${failed.length} failed again`}.`,
        isWrong: failed.length > 0,
      };
    } finally {
      await application.close();
    }
  });
}

async function discard(call: Call<InboxChange>): Promise<Answer> {
  const { options, terminal } = call;
  const { filter, count, failed } = await selected(call);
  const says = `Discard ${counted(count, 'parked message')}: they will never be processed.`;
  return approved({ says, data: { selected: count } }, options, terminal, async () => {
    const discarded = await failed.remove(filter);
    return { data: { discarded }, text: `${counted(discarded, 'parked message')} discarded.` };
  });
}

/** @throws UsageError when that would be everything; Failure when it is nothing. */
async function selected({ session, options, args }: Call<InboxChange>): Promise<{
  readonly filter: ParkedMessageFilter;
  readonly count: number;
  readonly failed: Awaited<ReturnType<typeof session.inbox>>['failed'];
}> {
  const wrong = args.find((id) => !/^\d{1,19}$/.test(id));
  if (wrong !== undefined) throw new UsageError(`${JSON.stringify(wrong)} is no id of a parked message.`);
  const given = filterOf(options, args);
  requireSelection(given, options.all);
  const { failed } = await session.inbox();
  const messages = await failed.list(given, MOST);
  if (messages.length === 0) throw new Failure('no parked message matches. Nothing was changed.');
  // Those that were counted, and none that is parked while somebody thinks about the answer.
  return { filter: { ids: messages.map(({ id }) => id) }, count: messages.length, failed };
}

async function started(app: () => Promise<INestApplicationContext>): Promise<INestApplicationContext> {
  try {
    return await app();
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new Failure(`the application did not start: ${describeError(error)}.`, error);
  }
}

function filterOf({ consumer }: FilterOptions, ids: readonly string[]): ParkedMessageFilter {
  return givenOf({ consumer, ids: ids.length === 0 ? undefined : ids });
}

function inWords(messages: readonly ParkedMessage[]): string {
  return table(messages, [
    ['id', ({ id }) => id],
    ['consumer', ({ consumer }) => consumer],
    ['type', ({ eventType }) => eventType],
    ['message', ({ messageId }) => messageId],
    ['attempts', ({ attempts }) => attempts],
    ['parked', ({ parkedAt }) => when(parkedAt)],
    ['from', ({ source }) => source],
    ['error', ({ error }) => error],
  ]);
}
