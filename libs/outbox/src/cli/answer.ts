/** What a command found or did: once for machines, once for people. */
export interface Answer {
  /** One JSON document. */
  readonly data: unknown;
  readonly text: string;
  /** True when something is wrong with what was looked at: exit code 1. */
  readonly isWrong?: boolean;
}
