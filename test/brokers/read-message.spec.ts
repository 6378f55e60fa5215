import { describe, expect, it } from 'vitest';
import { InboxRefusedError } from '../../libs/outbox/src/errors/index.js';
import { readMessage } from '../../libs/outbox/src/inbox/broker/read-message.js';

const EVENT = { specversion: '1.0', id: 'e1', source: '/orders', type: 'order.placed', data: { amountCents: 1 } };
const raw = (body: unknown, headers: Record<string, string> = {}, contentType = 'application/json') => ({
  source: 'a topic',
  contentType,
  headers,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
});
const attributes = (prefix: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(EVENT).flatMap(([name, value]) => (name === 'data' ? [] : [[`${prefix}${name}`, String(value)]])),
  );

describe('a message of a broker is read as an event', () => {
  it.each(['ce_', 'ce-', 'cloudEvents_', 'cloudEvents:'])('in binary mode with the prefix %s', (prefix) => {
    const event = readMessage(raw(EVENT.data, attributes(prefix)));
    expect(event).toMatchObject({ id: 'e1', type: 'order.placed', payload: EVENT.data });
  });

  it.each([
    ['in structured mode', raw(EVENT, {}, 'application/cloudevents+json; charset=UTF-8')],
    ['as a CloudEvent whose type nobody told', raw(EVENT, {}, '')],
    ['as the data of a Nest client', raw({ pattern: 'order.placed', data: EVENT })],
  ])('%s', (_, message) => {
    expect(readMessage(message)).toMatchObject({ id: 'e1', type: 'order.placed', payload: EVENT.data });
  });

  it('as a record of Debezium, by its header "id", with the type where a header says it', () => {
    expect(readMessage(raw(EVENT.data, { id: 'e1', eventType: 'order.placed' }))).toMatchObject({
      id: 'e1',
      type: 'order.placed',
      payload: EVENT.data,
    });
    expect(readMessage(raw(EVENT.data, { id: 'e1' })).type).toBe('debezium.outbox');
  });

  it.each([
    ['no event', raw({ amountCents: 1 }), 400],
    ['no JSON behind the header of Debezium', raw('{', { id: 'e1' }), 400],
    ['an attribute that is not percent-encoded', raw(EVENT.data, { ...attributes('ce-'), 'ce-type': '%E0%A4%A' }), 400],
    ['a batch', raw([EVENT], {}, 'application/cloudevents-batch+json'), 422],
    ['binary data', raw('\u0001', attributes('ce_'), 'application/octet-stream'), 422],
  ])('but refused: %s', (_, message, status) => {
    expect(() => readMessage(message)).toThrow(InboxRefusedError);
    expect(() => readMessage(message)).toThrow(expect.objectContaining({ status }));
  });
});
