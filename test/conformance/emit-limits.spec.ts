import { randomBytes, randomUUID } from 'node:crypto';
import { IsEmail, IsInt, Max, ValidateNested } from 'class-validator';
import {
  AggregateId,
  InvalidEventError,
  LimitExceededError,
  type OutboxError,
  OutboxEvent,
  UnroutedEventError,
  UnserializablePayloadError,
} from 'nestjs-transactional-outbox';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { noted, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';

const LIMIT_BYTES = 6 * 1024 * 1024;

@OutboxEvent('text.written', { aggregate: 'text' })
class TextWritten {
  @AggregateId()
  id: unknown = 'it';

  text: string;
}

class Line {
  @IsInt()
  @Max(10)
  quantity = 11;
}

@OutboxEvent('mail.sent', { aggregate: 'mail' })
class MailSent {
  @AggregateId()
  id = 'it';

  @IsEmail()
  to = 'nobody';

  @ValidateNested({ each: true })
  lines = [new Line()];
}

@OutboxEvent('x'.repeat(256), { aggregate: 'long' })
class LongType {
  @AggregateId()
  id = 'it';
}

@OutboxEvent('long.aggregate', { aggregate: 'x'.repeat(256) })
class LongAggregate {
  @AggregateId()
  id = 'it';
}

@OutboxEvent('nobody.listens', { aggregate: 'nobody' })
class NobodyListens {
  @AggregateId()
  id = 'it';
}

const about = (id: unknown): TextWritten => Object.assign(new TextWritten(), { id, text: '' });
const written = (text: string): TextWritten => Object.assign(new TextWritten(), { text });
/** A payload of exactly so many bytes. */
const ofBytes = (bytes: number): TextWritten => written('x'.repeat(bytes - '{"id":"it","text":""}'.length));
/** Random, because equal characters compress and fit into an index that they would not fit into otherwise. */
const random = (characters: number): string => randomBytes(characters).toString('base64').slice(0, characters);

describe('what emit refuses before any SQL', () => {
  let app: OutboxApp;
  beforeAll(async () => {
    app = await startOutboxApp({
      events: [TextWritten, MailSent, LongType, LongAggregate],
      outbox: { maxPayloadBytes: LIMIT_BYTES },
    });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.database.query('truncate outbox_event, outbox_delivery, outbox_aggregate');
    app.memory.clear();
  });

  async function refusal(event: object, headers?: Record<string, string>): Promise<OutboxError> {
    const refused = await app.outbox.transaction(async (manager) => {
      const error = await app.outbox.emit(event, { headers }).then(
        () => new Error('it was stored'),
        (reason: unknown) => reason,
      );
      await manager.query('select 1');
      return error;
    });
    expect(await app.database.query('select id from outbox_event')).toEqual([]);
    return refused as OutboxError;
  }

  it.each([
    ['an aggregate id of 10,000 random characters', about(random(10_000)), 'aggregateId has 10000 characters'],
    ['an aggregate id of 256 equal characters', about('x'.repeat(256)), 'aggregateId has 256 characters'],
    ['an aggregate id of 256 emoji', about('😀'.repeat(256)), 'aggregateId has 256 characters'],
    [
      'an ordered aggregate id of 10,000 random characters',
      step(random(10_000), 1),
      'aggregateId has 10000 characters',
    ],
    ['a type of 256 characters', new LongType(), 'type has 256 characters'],
    ['an aggregate type of 256 characters', new LongAggregate(), 'aggregateType has 256 characters'],
    ['a payload one byte above the limit', ofBytes(LIMIT_BYTES + 1), `payload has ${LIMIT_BYTES + 1} bytes`],
    ['emoji above the limit', written('😀'.repeat(LIMIT_BYTES / 4)), `payload has ${LIMIT_BYTES + 21} bytes`],
  ])('%s: the error names the field, its size and the limit', async (_what, event, message) => {
    const error = await refusal(event);
    expect(error).toBeInstanceOf(LimitExceededError);
    expect(error.message).toContain(message);
    expect(error.message).toMatch(/the limit is \d+/);
  });

  it.each([
    ['empty', ''],
    ['undefined', undefined],
    ['null', null],
    ['an object', { id: 1 }],
    ['NaN', Number.NaN],
    ['a fraction', 1.5],
    ['NUL', `a${String.fromCharCode(0)}`],
    ['a lone surrogate', 'a\ud800'],
  ])('an aggregate id that is %s, with the name of the field', async (_what, id) => {
    const error = await refusal(about(id));
    expect(error).toBeInstanceOf(InvalidEventError);
    expect(error.message).toContain('TextWritten.id');
  });

  it('an event that breaks its validation rules, with every message, nested ones included', async () => {
    const error = await refusal(new MailSent());
    expect(error).toBeInstanceOf(InvalidEventError);
    expect(error.message).toContain('to must be an email');
    expect(error.message).toMatch(/lines\.\S*quantity must not be greater than 10/);
  });

  it('an event type that no route names', async () => {
    const error = await refusal(new NobodyListens());
    expect(error).toBeInstanceOf(UnroutedEventError);
    expect(error.message).toContain('"nobody.listens" (NobodyListens)');
  });

  it('headers that are no text, hold NUL, or are too large, with their name', async () => {
    const numeric = { attempt: 1 } as unknown as Record<string, string>;
    expect((await refusal(noted(randomUUID()), numeric)).message).toContain('header "attempt" is no text');
    const error = await refusal(noted(randomUUID()), { tenant: `a${String.fromCharCode(0)}` });
    expect(error).toBeInstanceOf(UnserializablePayloadError);
    expect(error.message).toContain('headers.tenant: contains the NUL character');
    expect((await refusal(noted(randomUUID()), { trace: random(20_000) })).message).toContain('the limit is 16384');
  });

  it.each([
    ['a payload of exactly the limit', ofBytes(LIMIT_BYTES)],
    ['a payload of 5 MB', written(random(5_000_000))],
    ['a payload of 7,990 bytes', ofBytes(7990)],
    ['a payload of 8,010 bytes', ofBytes(8010)],
    ['a payload of 2,000 emoji', written('😀'.repeat(2000))],
    ['an aggregate id of 255 random characters', about(random(255))],
    ['an aggregate id of 200 emoji', about('😀'.repeat(200))],
    ['an ordered aggregate id of 255 emoji', step('😀'.repeat(255), 1)],
  ])('but not %s, which is delivered whole', async (_what, event) => {
    await app.outbox.transaction(() => app.outbox.emit(event));
    await app.dispatcher.drain();
    expect(app.memory.accepted.map(({ envelope }) => envelope.payload)).toEqual([{ ...event }]);
  });

  it.each([
    ['a safe integer', 42, '42'],
    ['a bigint beyond the safe integers', 2n ** 60n, '1152921504606846976'],
  ])('nor an aggregate id that is %s, which is stored as text', async (_what, id, expected) => {
    const hidden = Object.assign(about(id), { toJSON: () => ({}) });
    await app.outbox.transaction(() => app.outbox.emit(hidden));
    expect(await app.database.query('select aggregateid from outbox_event')).toEqual([{ aggregateid: expected }]);
  });

  it('nor headers with special characters, which survive to the transport', async () => {
    const headers = { 'x-é😀': 'ü "quoted"\n\\ 日本語', traceparent: '00-abc', ...JSON.parse('{"__proto__":"kept"}') };
    await app.outbox.transaction(() => app.outbox.emit(noted(randomUUID()), { headers }));
    await app.dispatcher.drain();
    expect(app.memory.accepted.map(({ envelope }) => Object.entries(envelope.headers).toSorted())).toEqual([
      Object.entries(headers).toSorted(),
    ]);
  });
});
