import type { Cleanup } from '../cleanup.js';

/** What carries the events in this run, ready to be used. */
export interface Carrier {
  /** For people: what it is, where it is, and who has started it. */
  readonly description: string;
  /** Variables for the applications. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Makes what the applications need in a broker, under names that begin with `prefix`, and has it removed at the end. */
export type OpenBroker = (prefix: string, cleanup: Cleanup) => Promise<Carrier>;

/** The names that the applications will use. */
export function placesOf(prefix: string): string[] {
  return ['shipping', 'inventory'].map((consumer) => `${prefix}-${consumer}`);
}

/** For people; without the password, also where it cannot be told from the rest. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'an address that is no URL';
}

/** The server of a transport cannot be used; the message says how to start one. */
export class BrokerMissingError extends Error {
  constructor(name: string, where: string, howToStart: readonly string[], cause: unknown) {
    super(
      [
        `${name} cannot be used at ${where} (${reasonOf(cause)}). Start it, or say where it is:`,
        ...howToStart.map((line) => `  ${line}`),
      ].join('\n'),
      { cause },
    );
  }
}

/** A name with several addresses fails with one error for each. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
