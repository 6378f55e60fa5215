import { parseArgs } from 'node:util';
import { TRANSPORTS, type TransportName } from 'sample-support';

export interface Arguments {
  readonly orders: number;
  /** What carries the events from orders to shipping. */
  readonly transport: TransportName;
  /** Leave out the dual write, which takes ten processes more. */
  readonly deliveryOnly: boolean;
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

  --transport T    what carries the events: ${TRANSPORTS.join(', ')} (default http)
  --orders N       place N orders, 1 to ${MAX_ORDERS} (default 5)
  --delivery-only  leave out the dual write, which is half of the time
  --once           end after the story; the exit code is 0 when every figure is as it must be
  --json           print the figures as one JSON object, last of all
  --help           print this

REDIS_URL, RABBITMQ_URL and NATS_URL say where these servers are, if not on their usual ports of 127.0.0.1. KAFKA_BROKERS
and SQS_ENDPOINT do, too; without them the demo starts Kafka's mock cluster (with kcat) and fauxqs by itself.

DATABASE_URL=postgres://… uses a server of yours instead of the embedded one; the demo creates databases of its own
there and drops them at the end.
`;

/** @throws ArgumentError */
export function readArguments(given: readonly string[]): Arguments {
  const { transport: name, orders, 'delivery-only': deliveryOnly, once, json, help } = parse(given);
  const transport = TRANSPORTS.find((one) => one === name);
  if (transport === undefined) {
    throw new ArgumentError(`--transport is "${name}"; it must be one of ${TRANSPORTS.join(', ')}.`);
  }
  if (!/^\d{1,4}$/.test(orders) || Number(orders) < 1 || Number(orders) > MAX_ORDERS) {
    throw new ArgumentError(`--orders is "${orders}"; it must be a whole number from 1 to ${MAX_ORDERS}.`);
  }
  return { transport, orders: Number(orders), deliveryOnly, once, json, help };
}

function parse(
  given: readonly string[],
): Record<'transport' | 'orders', string> & Record<'delivery-only' | 'once' | 'json' | 'help', boolean> {
  try {
    return parseArgs({
      args: [...given],
      strict: true,
      allowPositionals: false,
      options: {
        transport: { type: 'string', default: 'http' },
        orders: { type: 'string', default: '5' },
        'delivery-only': { type: 'boolean', default: false },
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
