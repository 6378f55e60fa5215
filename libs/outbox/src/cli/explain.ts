import { inspect } from 'node:util';
import { CommanderError } from 'commander';
import { ConfigurationError, describeError, OutboxError } from '../errors/index.js';
import { CliError } from './cli-error.js';

export interface Explanation {
  /** Undefined when it has been said. */
  readonly sentence: string | undefined;
  readonly exitCode: 0 | 1 | 2;
}

/** Whatever ended a command, in one sentence. */
export function explain(error: unknown): Explanation {
  // The parser has said what is wrong, or has shown the help that was asked for.
  if (error instanceof CommanderError) return { sentence: undefined, exitCode: error.exitCode === 0 ? 0 : 2 };
  if (error instanceof CliError) return { sentence: error.message, exitCode: error.exitCode };
  if (error instanceof ConfigurationError) return { sentence: error.message, exitCode: 2 };
  if (error instanceof OutboxError) return { sentence: `${error.message}${causeOf(error)}`, exitCode: 1 };
  return { sentence: `that failed: ${describeError(error)}. Run it with --verbose to see where.`, exitCode: 1 };
}

function causeOf({ cause }: OutboxError): string {
  return cause === undefined ? '' : ` (${describeError(cause)})`;
}

/** Where it came from, with its causes. */
export function describeTrace(error: unknown): string {
  return inspect(error);
}
