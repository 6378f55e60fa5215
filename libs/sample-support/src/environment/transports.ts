import { ValidateBy, type ValidationArguments } from 'class-validator';

/** What may carry the events from orders to shipping, and where it usually is. In SQS there is no usual place. */
const USUAL_URLS = {
  http: undefined,
  redis: 'redis://127.0.0.1:6379',
  rabbitmq: 'amqp://guest:guest@127.0.0.1:5672',
  kafka: '127.0.0.1:9092',
  nats: 'nats://127.0.0.1:4222',
  sqs: '',
  'in-process': undefined,
} as const;

export type TransportName = keyof typeof USUAL_URLS;

export const TRANSPORTS = Object.keys(USUAL_URLS) as TransportName[]; // the keys of a constant are known

const RULES: Readonly<Record<TransportName, { readonly pattern: RegExp; readonly rule: string }>> = {
  http: { pattern: /^/, rule: 'may be anything' },
  redis: { pattern: /^rediss?:\/\/./, rule: 'must begin with redis:// or rediss://' },
  rabbitmq: { pattern: /^amqps?:\/\/./, rule: 'must begin with amqp:// or amqps://' },
  kafka: { pattern: /^[^\s,:/]+:\d+(,[^\s,:/]+:\d+)*$/, rule: 'must name brokers as host:port,host:port' },
  nats: { pattern: /^(nats|tls):\/\/./, rule: 'must begin with nats:// or tls://' },
  sqs: {
    pattern: /^https?:\/\/./,
    rule: 'must be the URL of the queues without their names, for example https://sqs.eu-central-1.amazonaws.com/123456789012',
  },
  'in-process': { pattern: /^/, rule: 'may be anything' },
};

/** The variables that say which transport there is and where. */
export interface TransportEnvironment {
  readonly TRANSPORT: TransportName;
  readonly BROKER_URL: string;
}

/** Where the broker of this transport is: what was given, else its usual place; '' where there is no broker. */
export function brokerUrlOf({ TRANSPORT, BROKER_URL }: TransportEnvironment): string {
  return BROKER_URL || (USUAL_URLS[TRANSPORT] ?? '');
}

export function IsTransport(transports: readonly TransportName[] = TRANSPORTS): PropertyDecorator {
  return ValidateBy({
    name: 'isTransport',
    validator: {
      validate: (value) => transports.some((one) => one === value),
      defaultMessage: () => `TRANSPORT must be one of ${transports.join(', ')}.`,
    },
  });
}

/** Checked by what TRANSPORT needs; a TRANSPORT that makes no sense has been complained of already. */
export function IsBrokerUrl(): PropertyDecorator {
  return ValidateBy({
    name: 'isBrokerUrl',
    validator: {
      validate: (_, checked) => brokenRule(checked) === undefined,
      defaultMessage: (checked) => `BROKER_URL ${brokenRule(checked)}, because TRANSPORT is ${transportOf(checked)}.`,
    },
  });
}

function brokenRule(checked: ValidationArguments | undefined): string | undefined {
  const { pattern, rule } = RULES[transportOf(checked)] ?? RULES.http;
  return pattern.test(brokerUrlOf(environmentOf(checked))) ? undefined : rule;
}

function transportOf(checked: ValidationArguments | undefined): TransportName {
  return environmentOf(checked).TRANSPORT;
}

function environmentOf(checked: ValidationArguments | undefined): TransportEnvironment {
  return checked?.object as TransportEnvironment; // BROKER_URL is declared beside TRANSPORT
}

/** Streams, queues and topics begin with it, so that several systems can share a broker. */
export function IsPlacePrefix(): PropertyDecorator {
  return ValidateBy({
    name: 'isPlacePrefix',
    validator: {
      validate: (value) => typeof value === 'string' && /^[A-Za-z0-9_-]{1,40}$/.test(value),
      defaultMessage: () => 'PLACE_PREFIX must be 1 to 40 letters, digits, hyphens or underscores.',
    },
  });
}
