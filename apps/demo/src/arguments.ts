import { parseArgs } from 'node:util';

export interface Arguments {
  readonly orders: number;
  /** End after the story instead of staying up. */
  readonly once: boolean;
  /** Print the figures as JSON, last of all. */
  readonly json: boolean;
  readonly help: boolean;
}

/** An argument is unknown or has no sense; the message says which. */
export class ArgumentError extends Error {}

const MAX_ORDERS = 1000;

export const USAGE = `npm run demo [-- options]

  --orders N   place N orders, 1 to ${MAX_ORDERS} (default 5)
  --once       end after the story; the exit code is 0 when every figure is as it must be
  --json       print the figures as one JSON object, last of all
  --help       print this

DATABASE_URL=postgres://… uses a server of yours instead of the embedded one; the demo creates databases of its own
there and drops them at the end.
`;

/** @throws ArgumentError */
export function readArguments(given: readonly string[]): Arguments {
  const { orders, once, json, help } = parse(given);
  if (!/^\d{1,4}$/.test(orders) || Number(orders) < 1 || Number(orders) > MAX_ORDERS) {
    throw new ArgumentError(`--orders is "${orders}"; it must be a whole number from 1 to ${MAX_ORDERS}.`);
  }
  return { orders: Number(orders), once, json, help };
}

function parse(given: readonly string[]): { orders: string; once: boolean; json: boolean; help: boolean } {
  try {
    return parseArgs({
      args: [...given],
      strict: true,
      allowPositionals: false,
      options: {
        orders: { type: 'string', default: '5' },
        once: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values;
  } catch (error) {
    // parseArgs explains well what is wrong, and throws TypeErrors for nothing else.
    if (error instanceof TypeError) throw new ArgumentError(error.message, { cause: error });
    throw error;
  }
}
