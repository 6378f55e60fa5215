import { Command } from 'commander';
import type { Shelf } from './command.js';
import { addDeadLetters } from './commands/dead-letters.js';
import { addDoctor } from './commands/doctor.js';
import { addInbox } from './commands/inbox.js';
import { addKeys } from './commands/keys.js';
import { addMigrate } from './commands/migrate.js';
import { addOperations } from './commands/operations.js';
import { addPauseAndResume } from './commands/pause.js';
import { addReplay } from './commands/replay.js';
import { addRetention } from './commands/retention.js';
import { addSql } from './commands/sql.js';
import { addStatus } from './commands/status.js';
import { describeTrace, explain } from './explain.js';
import type { Terminal } from './terminal.js';

const EXIT_CODES = `
Exit codes: 0 fine, 1 failed or something is wrong, 2 the call or the configuration is wrong.`;

/** @returns the exit code. Never rejects. */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<number> {
  let isWrong = false;
  const program = new Command('outbox')
    .description('look after an outbox and its inbox')
    .exitOverride()
    .configureOutput({ writeOut: terminal.out, writeErr: (text) => terminal.say(text.trimEnd()) })
    .showHelpAfterError('Add --help to see what there is.')
    .addHelpText('after', EXIT_CODES);
  const shelf: Shelf = {
    program,
    terminal,
    onWrong: () => {
      isWrong = true;
    },
  };
  for (const add of COMMANDS) add(shelf);
  try {
    await program.parseAsync(args, { from: 'user' });
    return isWrong ? 1 : 0;
  } catch (error) {
    const { sentence, exitCode } = explain(error);
    if (sentence !== undefined) terminal.say(`outbox: ${sentence}`);
    if (sentence !== undefined && args.includes('--verbose')) terminal.say(describeTrace(error));
    return exitCode;
  }
}

const COMMANDS: readonly ((shelf: Shelf) => void)[] = [
  addStatus,
  addDoctor,
  addDeadLetters,
  addKeys,
  addReplay,
  addPauseAndResume,
  addOperations,
  addInbox,
  addRetention,
  addMigrate,
  addSql,
];
