import type { Examined } from './examined.js';

export type FindingStatus = 'ok' | 'warning' | 'problem';

/** What a check says. `advice` is what to do about it, undefined when all is well. */
export interface Verdict {
  readonly status: FindingStatus;
  readonly found: string;
  readonly advice?: string;
}

export interface Finding extends Verdict {
  /** Name of the check. */
  readonly check: string;
}

/** One question to the configuration and the live database. It changes nothing. */
export interface Check {
  readonly name: string;
  /** Whether it is asked at every start: then it takes a millisecond, whatever the tables hold. */
  readonly isAtStart: boolean;
  /** Undefined when the question does not arise. */
  readonly look: (examined: Examined) => Verdict | undefined | Promise<Verdict | undefined>;
}

export function ok(found: string): Verdict {
  return { status: 'ok', found };
}

/** It works, and will not for ever, or not in the case of need. */
export function warning(found: string, advice: string): Verdict {
  return { status: 'warning', found, advice };
}

/** Events are lost, doubled or kept back, or will be. */
export function problem(found: string, advice: string): Verdict {
  return { status: 'problem', found, advice };
}
