import type { Command } from 'commander';
import type { Answer } from './answer.js';
import { moment, wholeNumber } from './arguments.js';
import { toJson } from './print/json.js';
import { type ConnectionOptions, Session } from './session.js';
import type { Terminal } from './terminal.js';

export interface CommonOptions extends ConnectionOptions {
  readonly json?: boolean;
  readonly verbose?: boolean;
}

/** One call of a command. */
export interface Call<Options> {
  readonly session: Session;
  readonly options: Options & CommonOptions;
  /** What stands behind the command without a dash. */
  readonly args: readonly string[];
  readonly terminal: Terminal;
}

export type Work<Options> = (call: Call<Options>) => Promise<Answer>;

/** Where commands are added, and what they have in common. */
export interface Shelf {
  readonly program: Command;
  readonly terminal: Terminal;
  /** Told when an answer says that something is wrong. */
  readonly onWrong: () => void;
}

/** Adds a command that answers, and lets go of its connection whatever happens. */
export function addCommand<Options>(
  { terminal, onWrong }: Shelf,
  parent: Command,
  syntax: string,
  description: string,
  work: Work<Options>,
): Command {
  return parent
    .command(syntax)
    .description(description)
    .option('--config <file>', 'configuration (default: outbox.config.js, .mjs or .cjs in this directory)')
    .option('--url <url>', 'database, instead of that of the configuration (default: DATABASE_URL)')
    .option('--schema <name>', 'schema of the tables, instead of that of the configuration')
    .option('--json', 'answer with one JSON document')
    .option('--verbose', 'say where an error came from')
    .action(async (...given: unknown[]) => {
      // The parser hands the command over last; its arguments are text, or lists of text.
      const command = given.at(-1) as Command;
      const options = command.opts<Options & CommonOptions>();
      const session = await Session.begin(options, terminal);
      try {
        const answer = await work({ session, options, args: (command.processedArgs as string[]).flat(), terminal });
        terminal.out(options.json ? toJson(answer.data) : `${answer.text}\n`);
        if (answer.isWrong) onWrong();
      } finally {
        await session.end();
      }
    });
}

/** For a command that changes something which is written down. */
export function withRecordedChange(command: Command): Command {
  return withChange(command)
    .option('--reason <text>', 'why; it is written down with the change')
    .option('--by <name>', 'who (default: user and machine)');
}

export function withChange(command: Command): Command {
  return command.option('--yes', 'do it without asking').option('--dry-run', 'say what would be done');
}

export function withLimit(command: Command): Command {
  return command.option('--limit <count>', 'at most so many', wholeNumber(1, 10_000), 100);
}

export function withRate(command: Command): Command {
  return command.option('--per-second <count>', 'not more than so many a second', wholeNumber(1, 10_000));
}

export function withAggregate(command: Command): Command {
  return command
    .option('--destination <name>', 'of this destination')
    .option('--aggregate-type <type>', 'of aggregates of this type')
    .option('--aggregate-id <id>', 'of this aggregate');
}

export function withTimes(command: Command, verb: string): Command {
  return command
    .option(`--${verb}-before <time>`, `${verb} before, as 2026-01-31 or 2026-01-31T10:00:00Z`, moment)
    .option(`--${verb}-after <time>`, `${verb} after`, moment);
}

export function withAll(command: Command): Command {
  return command.option('--all', 'everything that is there now');
}
