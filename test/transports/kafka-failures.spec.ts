import {
  KafkaJSBrokerNotFound,
  KafkaJSConnectionError,
  KafkaJSLockTimeout,
  KafkaJSRequestTimeoutError,
  KafkaJSSASLAuthenticationError,
  KafkaJSTopicMetadataNotLoaded,
} from 'kafkajs';
import { type KafkaProducer, KafkaTransport } from 'nestjs-transactional-outbox/kafka';
import { describe, expect, it } from 'vitest';
import { outgoingEvent, publishOne } from '../integration/transport-events.js';
import { createErrorFromCode, createRetry, errorCodes } from '../support/kafkajs-internals.js';

type Batch = Parameters<KafkaProducer['sendBatch']>[0];

const DEAD = ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD', 'INVALID_TIMESTAMP'];
const UNREACHABLE = [
  'CLUSTER_AUTHORIZATION_FAILED',
  'SASL_AUTHENTICATION_FAILED',
  'UNSUPPORTED_SASL_MECHANISM',
  'ILLEGAL_SASL_STATE',
  'DELEGATION_TOKEN_AUTHORIZATION_FAILED',
];

// kcat's mock cluster refuses nothing, so the answers of a broker that does come from here, in the errors that KafkaJS
// makes of them, wrapped as its producers wrap them.
describe('KafkaTransport, where Kafka refuses', () => {
  it('every error of the protocol is classified: few are dead, few unreachable, all others tried again', async () => {
    const found = { dead: [] as string[], unreachable: [] as string[] };
    for (const { type, code } of errorCodes) {
      const { kind, error } = await outcomeOf(createErrorFromCode(code));
      if (kind === 'dead' || kind === 'unreachable') found[kind].push(type);
      else expect([type, kind]).toEqual([type, 'retry']);
      expect(error).toContain(createErrorFromCode(code).message);
    }
    expect(errorCodes.length).toBeGreaterThan(80);
    expect(found.dead.sort()).toEqual(DEAD.sort());
    expect(found.unreachable.sort()).toEqual(UNREACHABLE.sort());
  });

  it.each([
    ['an answer that did not come in time', new KafkaJSRequestTimeoutError('Request Produce timed out'), 'retry'],
    ['a connection lost midway', connectionError('ECONNRESET'), 'retry'],
    ['a lock that was not released', textless(KafkaJSLockTimeout, 'Timeout while acquiring lock'), 'retry'],
    ['metadata without the topic', new KafkaJSTopicMetadataNotLoaded('Topic metadata not loaded'), 'retry'],
    ['a mistake of the client', new TypeError('x is not a function'), 'retry'],
    ['nobody who listens', connectionError('ECONNREFUSED'), 'unreachable'],
    ['a name that nobody knows', connectionError('ENOTFOUND'), 'unreachable'],
    ['no broker at all', textless(KafkaJSBrokerNotFound, 'No brokers in the metadata'), 'unreachable'],
    ['a wrong password', textless(KafkaJSSASLAuthenticationError, 'Authentication failed'), 'unreachable'],
  ])('%s', async (_, error, kind) => {
    expect(await outcomeOf(error)).toMatchObject({ kind, error: expect.stringContaining(error.message) });
  });

  it('what is no error at all is tried again, with its text', async () => {
    const transport = transportWith(() => Promise.reject('out of luck'));
    expect(await publishOne(transport)).toEqual({ kind: 'retry', error: expect.stringContaining('out of luck') });
    await transport.close();
  });

  it('a batch that is refused for one of its records is sent by its parts, in the order of each aggregate', async () => {
    const kafka = refusing(({ value }) => value.includes('bad'), 'MESSAGE_TOO_LARGE');
    const [a, b] = [{ aggregateId: 'a' }, { aggregateId: 'b' }];
    const outcomes = await kafka.transport.publish(
      [
        outgoingEvent({ ...a, sequence: 1n, payload: 'a1' }),
        outgoingEvent({ ...a, sequence: 2n, payload: 'bad' }),
        outgoingEvent({ ...b, sequence: 1n, payload: 'b1' }),
        outgoingEvent({ ...a, sequence: 3n, payload: 'a3' }),
      ],
      AbortSignal.timeout(10_000),
    );
    await kafka.transport.close();
    expect(outcomes.map(({ kind }) => kind)).toEqual(['delivered', 'dead', 'delivered', 'held']);
    expect(kafka.sent).toEqual([['a1', 'bad', 'b1', 'a3'], ['a1'], ['bad'], ['b1']]);
    expect(kafka.producers, 'a producer that has failed does not go on counting').toBe(3);
    expect(kafka.open, 'and none of them stays connected').toBe(0);
  });

  it.each([
    ['MESSAGE_TOO_LARGE', 'dead'],
    ['TOPIC_AUTHORIZATION_FAILED', 'retry'],
    ['INVALID_TOPIC_EXCEPTION', 'retry'],
    ['UNKNOWN_TOPIC_OR_PARTITION', 'retry'],
    ['NOT_ENOUGH_REPLICAS', 'retry'],
    ['NOT_ENOUGH_REPLICAS_AFTER_APPEND', 'retry'],
  ])('%s of one topic costs the events of another one nothing', async (type, kind) => {
    const kafka = refusing(({ topic }) => topic.endsWith('locked'), type);
    const [locked, open] = [{ aggregateType: 'locked' }, { aggregateType: 'open' }];
    const outcomes = await kafka.transport.publish(
      [open, locked, open].map((envelope) => outgoingEvent(envelope)),
      AbortSignal.timeout(10_000),
    );
    await kafka.transport.close();
    expect(outcomes.map((outcome) => outcome.kind)).toEqual(['delivered', kind, 'delivered']);
  });

  it('the parts of a batch that are left when the time is over are not sent', async () => {
    const call = new AbortController();
    let batches = 0;
    const transport = transportWith(async ({ topicMessages }) => {
      batches += 1;
      if (topicMessages.flatMap(({ messages }) => messages).length > 1) {
        await asProducer(createErrorFromCode(errorCodes.find(({ type }) => type === 'MESSAGE_TOO_LARGE')?.code ?? 0));
      }
      call.abort(new DOMException('the time is over', 'TimeoutError'));
    });
    const outcomes = await transport.publish([outgoingEvent(), outgoingEvent(), outgoingEvent()], call.signal);
    await transport.close();
    expect(outcomes.map(({ kind }) => kind).slice(1)).toEqual(['retry', 'retry']);
    expect(batches).toBe(2);
  });

  it('an answer that did not come is not asked for once more by parts: the time is over', async () => {
    const batches: Batch[] = [];
    const transport = transportWith(async (batch) => {
      batches.push(batch);
      throw new KafkaJSRequestTimeoutError('Request Produce timed out');
    });
    const events = ['one', 'other'].map((aggregateType) => outgoingEvent({ aggregateType }));
    const outcomes = await transport.publish(events, AbortSignal.timeout(10_000));
    await transport.close();
    expect(outcomes.map(({ kind }) => kind)).toEqual(['retry', 'retry']);
    expect(batches).toHaveLength(1);
  });
});

/** What becomes of an event when the producer throws this. */
async function outcomeOf(error: Error): Promise<{ kind: string; error?: string }> {
  const transport = transportWith(() => asProducer(error));
  const outcome = await publishOne(transport);
  await transport.close();
  return outcome;
}

function transportWith(sendBatch: KafkaProducer['sendBatch']): KafkaTransport {
  return new KafkaTransport({
    kafka: () => ({ connect: async () => undefined, disconnect: async () => undefined, sendBatch }),
  });
}

/** A Kafka that refuses whole batches for some of their records, and what it was sent. */
function refusing(
  isRefused: (record: { topic: string; value: string }) => boolean,
  type: string,
): { readonly transport: KafkaTransport; readonly sent: string[][]; producers: number; open: number } {
  const code = errorCodes.find((one) => one.type === type)?.code ?? Number.NaN;
  const sendBatch: KafkaProducer['sendBatch'] = async ({ topicMessages }) => {
    const records = topicMessages.flatMap(({ topic, messages }) =>
      messages.map(({ value }) => ({ topic, value: String(JSON.parse(value.toString())) })),
    );
    kafka.sent.push(records.map(({ value }) => value));
    if (records.some(isRefused)) await asProducer(createErrorFromCode(code));
  };
  const kafka = {
    sent: [] as string[][],
    producers: 0,
    open: 0,
    transport: new KafkaTransport({
      kafka: () => {
        kafka.producers += 1;
        return {
          connect: async () => {
            kafka.open += 1;
          },
          disconnect: async () => {
            kafka.open -= 1;
          },
          sendBatch,
        };
      },
    }),
  };
  return kafka;
}

/** @throws what a producer of KafkaJS throws for it. */
function asProducer(error: Error): Promise<never> {
  return createRetry({ retries: 0, initialRetryTime: 1 })(() => Promise.reject(error));
}

function connectionError(code: string): Error {
  return Object.assign(new KafkaJSConnectionError(`Connection error: ${code}`), { code });
}

/** These need a text, of which their types do not know. */
function textless(type: new () => Error, text: string): Error {
  return new (type as new (text: string) => Error)(text);
}
