import { hostname, userInfo } from 'node:os';
import type { ManualChange } from '../store/index.js';
import type { Answer } from './answer.js';
import { Failure, UsageError } from './cli-error.js';
import type { Terminal } from './terminal.js';

export interface ChangeOptions {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

export interface RecordedChangeOptions extends ChangeOptions {
  readonly by?: string;
  readonly reason?: string;
}

/** What a command is about to do. */
export interface Plan {
  /** A sentence: `Redrive 3 dead letters.` */
  readonly says: string;
  /** What people look at before they decide. */
  readonly details?: string;
  /** For machines, and what a dry run answers. */
  readonly data: object;
}

/**
 * Says what would be done, and does it when somebody agrees: on a terminal, or beforehand with --yes.
 *
 * @throws UsageError when there is nobody to ask; Failure when the answer is no. Nothing was done then.
 */
export async function approved(
  plan: Plan,
  { yes, dryRun }: ChangeOptions,
  terminal: Terminal,
  perform: () => Promise<Answer>,
): Promise<Answer> {
  const details = plan.details === undefined ? '' : `${plan.details}\n\n`;
  if (dryRun) return { data: { dryRun: true, ...plan.data }, text: `${details}Would do: ${plan.says}` };
  if (yes) return perform();
  if (details !== '') terminal.say(details.trimEnd());
  if (!terminal.isInteractive) {
    throw new UsageError(`${plan.says} There is nobody to ask: say --yes to do it. Nothing was changed.`);
  }
  if (!(await terminal.ask(`${plan.says} Go on?`))) throw new Failure('Nothing was changed.');
  return perform();
}

/** @throws UsageError without a reason. A dry run needs none. */
export function changeBy({ by, reason, dryRun }: RecordedChangeOptions): ManualChange {
  if (!reason?.trim() && !dryRun) {
    throw new UsageError('--reason is missing: it is written down with the change. Nothing was changed.');
  }
  return { by: by ?? whoIsHere(), reason: reason ?? 'dry run' };
}

function whoIsHere(): string {
  return `${userNameOrId()}@${hostname()}`.slice(0, 200);
}

/** In a container the user may have no name. */
function userNameOrId(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
