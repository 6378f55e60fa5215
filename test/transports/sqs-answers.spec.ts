import { createHash } from 'node:crypto';
import { SQSClient } from '@aws-sdk/client-sqs';
import { SqsTransport } from 'nestjs-transactional-outbox/sqs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { outgoingEvent, publishOne } from '../integration/transport-events.js';
import { ACCOUNT } from '../processes/broker-choice.js';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.js';

interface Entry {
  readonly Id: string;
  readonly MessageBody: string;
  readonly MessageGroupId?: string;
  readonly MessageDeduplicationId?: string;
}

interface Answer {
  readonly Successful?: readonly object[];
  readonly Failed?: readonly object[];
}

// fauxqs takes everything, so what SQS refuses, and in which order it answers, comes from here.
describe('SqsTransport, by what SQS answers', () => {
  const requests: Entry[][] = [];
  let server: RecordingServer;
  let answer: (entries: readonly Entry[]) => Answer;
  beforeEach(async () => {
    requests.length = 0;
    answer = (entries) => ({ Successful: entries.map(stored) });
    server = await startRecordingServer(({ body }) => {
      const { Entries } = JSON.parse(body.toString()) as { Entries: Entry[] };
      requests.push(Entries);
      return {
        status: 200,
        headers: { 'content-type': 'application/x-amz-json-1.0' },
        body: JSON.stringify(answer(Entries)),
      };
    });
  });
  afterEach(() => server.close());

  const open = (queue: string, sqs: SQSClient | object = { ...ACCOUNT, endpoint: server.url }): SqsTransport =>
    new SqsTransport({ queueUrl: `${server.url}/000000000000/${queue}`, sqs });

  it('each event has the outcome that SQS names by its id, in whatever order it answers', async () => {
    answer = ([first, second, third, fourth]) => ({
      Successful: [fourth, second].map((entry) => stored(entry as Entry)),
      Failed: [
        { Id: third?.Id, SenderFault: true, Code: 'InvalidMessageContents', Message: 'not allowed' },
        { Id: first?.Id, SenderFault: false, Code: 'InternalError', Message: 'try again' },
      ],
    });
    const transport = open('orders');
    const events = Array.from({ length: 5 }, () => outgoingEvent());
    const outcomes = await transport.publish(events, AbortSignal.timeout(10_000));
    await transport.close();
    expect(outcomes).toEqual([
      { kind: 'retry', error: expect.stringContaining('InternalError') },
      { kind: 'delivered' },
      { kind: 'dead', error: expect.stringContaining('not allowed') },
      { kind: 'delivered' },
      { kind: 'retry', error: expect.stringContaining('did not answer') },
    ]);
  });

  it('ten messages at most are in a request', async () => {
    const transport = open('orders');
    const events = Array.from({ length: 25 }, () => outgoingEvent());
    const outcomes = await transport.publish(events, AbortSignal.timeout(10_000));
    await transport.close();
    expect(outcomes.filter(({ kind }) => kind === 'delivered')).toHaveLength(25);
    expect(requests.map(({ length }) => length).sort()).toEqual([10, 10, 5]);
  });

  it('in a FIFO queue each aggregate is a group, and what SQS takes for no id of a group is hashed', async () => {
    const transport = open('orders.fifo');
    for (const aggregateId of ['a', 'a', 'b', 'Müller & Söhne '.repeat(15)])
      await publishOne(transport, outgoingEvent({ aggregateId }));
    await transport.close();
    const groups = requests.flat().map(({ MessageGroupId }) => MessageGroupId);
    expect(groups.slice(0, 3)).toEqual(['order:a', 'order:a', 'order:b']);
    expect(groups[3]).toMatch(/^[0-9a-f]{64}$/);
  });

  it('in a FIFO queue every try has one deduplication id, and each redrive another', async () => {
    const transport = open('orders.fifo');
    const event = outgoingEvent();
    for (const more of [{}, { attempt: 2 }, { redrives: 1 }, { redrives: 1, attempt: 2 }, { redrives: 2 }])
      await publishOne(transport, { ...event, ...more });
    await transport.close();
    const ids = requests.flat().map(({ MessageDeduplicationId }) => MessageDeduplicationId);
    const [id = ''] = ids;
    expect(id).toMatch(new RegExp(`^${event.envelope.id}-[\\w-]{8}$`));
    expect(ids).toEqual([id, id, `${id}-1`, `${id}-1`, `${id}-2`]);
  });

  it("a client of somebody else's stays open", async () => {
    let destroyed = 0;
    const client = new SQSClient({ ...ACCOUNT, endpoint: server.url });
    const destroy = client.destroy.bind(client);
    client.destroy = () => {
      destroyed += 1;
    };
    const transport = open('orders', client);
    expect(await publishOne(transport)).toEqual({ kind: 'delivered' });
    await transport.close();
    expect(destroyed).toBe(0);
    destroy();
  });
});

/** The client compares the digest. */
function stored({ Id, MessageBody }: Entry): object {
  return { Id, MessageId: `m-${Id}`, MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex') };
}
