import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { DeadLetterService } from 'nestjs-transactional-outbox';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rabbitmq } from '../support/brokers.js';
import { byHand } from '../support/by-hand.js';
import type { OutboxQueue } from '../support/outbox-queue.js';
import { Telemetry } from '../support/telemetry.js';
import { openHttpReceiver, openRabbitmqReceiver, placed, REFUSED_CENTS, type Receiver, startShop } from './scene.js';

const traceOf = (span: ReadableSpan): string => span.spanContext().traceId;
const idOf = (span: ReadableSpan | undefined): string | undefined => span?.spanContext().spanId;
const linksOf = (span: ReadableSpan): string[] => span.links.map(({ context }) => context.spanId);

describe.each([
  { over: 'HTTP', open: openHttpReceiver, mayLack: false },
  { over: 'RabbitMQ', open: openRabbitmqReceiver, mayLack: rabbitmq.mayLack },
])('a trace over $over', ({ open, mayLack }) => {
  let telemetry: Telemetry;
  let receiver: Receiver;
  let shop: OutboxQueue;
  beforeAll(async () => {
    if (mayLack) return;
    telemetry = new Telemetry().start();
    receiver = await open();
    shop = await startShop(receiver.transport);
  });
  afterAll(async () => {
    if (mayLack) return;
    await shop.close();
    await receiver.close();
    await telemetry.stop();
  });
  beforeEach((test) => {
    if (mayLack) test.skip();
    telemetry.forgetSpans();
  });

  const processed = (): Promise<ReadableSpan> =>
    expect
      .poll(() => telemetry.spans('process shipping').length)
      .toBe(1)
      .then(() => telemetry.span('process shipping'));

  it('leads from the request to the emit, and from there to the publish and the process of its event', async () => {
    const [id] = await telemetry.within('POST /orders', () => shop.emit(placed()));
    await shop.dispatcher.drain();
    const process = await processed();
    const [request, emit, publish] = ['POST /orders', 'emit order.placed', 'publish shop'].map((name) =>
      telemetry.span(name),
    ) as [ReadableSpan, ReadableSpan, ReadableSpan]; // as many as names
    expect(new Set([request, emit, publish, process].map(traceOf)).size).toBe(1);
    expect(emit.parentSpanContext?.spanId).toBe(idOf(request));
    expect(publish.parentSpanContext?.spanId).toBe(idOf(emit));
    expect(process.parentSpanContext?.spanId).toBe(idOf(emit));
    expect([emit.kind, publish.kind, process.kind]).toEqual([SpanKind.PRODUCER, SpanKind.CLIENT, SpanKind.CONSUMER]);
    for (const span of [emit, publish, process]) {
      expect(span.attributes).toMatchObject({
        'messaging.system': 'outbox',
        'messaging.message.id': id,
        'cloudevents.event_type': 'order.placed',
      });
      expect(span.status.code).toBe(SpanStatusCode.UNSET);
    }
  });

  it('does not go on in a delivery that comes late: its spans are linked with the emit', async () => {
    await shop.emit(placed());
    await shop.database.query(
      `with log as (update outbox_event set created_at = now() - interval '61 seconds')
       update outbox_delivery set created_at = now() - interval '61 seconds'`,
    );
    await shop.dispatcher.drain();
    const process = await processed();
    const emit = telemetry.span('emit order.placed');
    const publish = telemetry.span('publish shop');
    expect(publish.parentSpanContext).toBeUndefined();
    for (const late of [publish, process]) {
      expect(traceOf(late)).not.toBe(traceOf(emit));
      expect(linksOf(late)).toEqual([idOf(emit)]);
    }
  });

  it('does not go on in a delivery that somebody asked for again', async () => {
    await shop.emit(placed());
    await shop.database.query(`update outbox_delivery set status = 1, available_at = now(), last_error = 'gave up'`);
    await shop.module.get(DeadLetterService).redrive({ destination: 'shop' }, byHand);
    await shop.dispatcher.drain();
    await processed();
    const publish = telemetry.span('publish shop');
    expect(publish.parentSpanContext).toBeUndefined();
    expect(linksOf(publish)).toEqual([idOf(telemetry.span('emit order.placed'))]);
  });
});

describe('a failure in a trace', () => {
  let telemetry: Telemetry;
  let receiver: Receiver;
  let shop: OutboxQueue;
  beforeAll(async () => {
    telemetry = new Telemetry().start();
    receiver = await openHttpReceiver();
    shop = await startShop(receiver.transport);
  });
  afterAll(async () => {
    await shop.close();
    await receiver.close();
    await telemetry.stop();
  });

  it('is told by its type, without a text that might quote a payload; the next attempt is linked', async () => {
    await shop.emit(placed(REFUSED_CENTS));
    await shop.dispatcher.dispatchOnce();
    await expect.poll(() => telemetry.spans('publish shop').length).toBe(1);
    await shop.makeDue();
    await shop.dispatcher.dispatchOnce();
    const emit = telemetry.span('emit order.placed');
    const [first, second] = telemetry.spans('publish shop') as [ReadableSpan, ReadableSpan]; // two attempts
    expect(first.parentSpanContext?.spanId).toBe(idOf(emit));
    expect(second.parentSpanContext).toBeUndefined();
    expect(linksOf(second)).toEqual([idOf(emit)]);
    expect(second.attributes).toMatchObject({ 'outbox.delivery.attempt': 2, 'outbox.delivery.outcome': 'retry' });
    const [process] = telemetry.spans('process shipping');
    for (const [span, errorType] of [
      [first, 'retry'],
      [process, 'Error'],
    ] as const) {
      expect(span?.status).toEqual({ code: SpanStatusCode.ERROR });
      expect(span?.attributes['error.type']).toBe(errorType);
    }
    const everything = telemetry
      .spans('')
      .map(({ name, attributes, events, status }) => ({ name, attributes, events, status }));
    expect(JSON.stringify(everything)).not.toContain(String(REFUSED_CENTS));
  });
});
