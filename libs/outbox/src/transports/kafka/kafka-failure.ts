import { describeError } from '../../errors/index.js';
import type { Dead, Retry, Unreachable } from '../publish-outcome.js';

/** Errors of the Kafka protocol about one record, which no second try can mend (Kafka protocol guide, "Error Codes"). */
const RECORD_REFUSED = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD', 'INVALID_TIMESTAMP']);

/** About one topic; those beside it in the batch are not meant. */
const TOPIC_REFUSED = new Set([
  'TOPIC_AUTHORIZATION_FAILED',
  'INVALID_TOPIC_EXCEPTION',
  'UNKNOWN_TOPIC_OR_PARTITION',
  'NOT_ENOUGH_REPLICAS',
  'NOT_ENOUGH_REPLICAS_AFTER_APPEND',
  'POLICY_VIOLATION',
  'UNSUPPORTED_FOR_MESSAGE_FORMAT',
]);

/** About the account or the cluster as a whole. */
const CLUSTER_REFUSES = new Set([
  'CLUSTER_AUTHORIZATION_FAILED',
  'SASL_AUTHENTICATION_FAILED',
  'UNSUPPORTED_SASL_MECHANISM',
  'ILLEGAL_SASL_STATE',
  'DELEGATION_TOKEN_AUTHORIZATION_FAILED',
]);

/** No connection was made, so nothing can have been sent on it. */
const NO_CONNECTION = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']);

export type KafkaFailure = Dead | Retry | Unreachable;

/** What an error of the producer means for the events that it was given. */
export function kafkaFailure(error: unknown): KafkaFailure {
  const chain = chainOf(error);
  const text = describeError(chain.at(-1));
  if (chain.some(({ type }) => RECORD_REFUSED.has(String(type))))
    return { kind: 'dead', error: `Kafka refused: ${text}` };
  const isUnreachable = chain.some(
    ({ type, code, name }) =>
      CLUSTER_REFUSES.has(String(type)) ||
      NO_CONNECTION.has(String(code)) ||
      name === 'KafkaJSSASLAuthenticationError' ||
      name === 'KafkaJSBrokerNotFound',
  );
  if (isUnreachable) return { kind: 'unreachable', error: `Kafka cannot be reached: ${text}` };
  return { kind: 'retry', error: `Kafka did not acknowledge: ${text}` };
}

/** Whether the events of other topics may be sent without those that the error is about. */
export function isAboutTopic(error: unknown): boolean {
  return chainOf(error).some(({ type }) => TOPIC_REFUSED.has(String(type)));
}

type ProducerError = Partial<Record<'type' | 'code' | 'name' | 'cause', unknown>>;

/** The error and its causes; KafkaJS wraps what it has tried several times. */
function chainOf(error: unknown): readonly ProducerError[] {
  const chain: ProducerError[] = [];
  for (let current = error; typeof current === 'object' && current !== null && chain.length < 5; ) {
    chain.push(current);
    current = (current as ProducerError).cause;
  }
  return chain.length === 0 ? [{ name: String(error) }] : chain;
}
