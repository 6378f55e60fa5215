import { context, propagation } from '@opentelemetry/api';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OutboxQueue } from '../support/outbox-queue.js';
import { Telemetry } from '../support/telemetry.js';
import { placed, startShop } from './scene.js';

const CALLERS_TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLERS_SPAN = 'b7ad6b7169203331';
const CALLERS_TRACEPARENT = `00-${CALLERS_TRACE}-${CALLERS_SPAN}-01`;
/** Of the headers as JSON. */
const LIMIT_BYTES = 16_384;

describe('the headers of an event', () => {
  let telemetry: Telemetry;
  let memory: MemoryTransport;
  let shop: OutboxQueue;
  beforeEach(async () => {
    telemetry = new Telemetry();
    memory = new MemoryTransport();
    shop = await startShop(memory);
  });
  afterEach(async () => {
    await shop.close();
    await telemetry.stop();
  });

  const emit = (headers?: Record<string, string>): Promise<string[]> =>
    shop.outbox.transaction(() => shop.outbox.emit(placed(), headers && { headers }));
  const stored = async (): Promise<Record<string, string>[]> =>
    (
      await shop.database.query<{ headers: Record<string, string> }>('select headers from outbox_event order by id')
    ).map(({ headers }) => headers);

  it('stay as they are where nobody has set an SDK up, and the event arrives', async () => {
    await emit();
    await emit({ tenant: 'acme' });
    expect(await shop.dispatcher.drain()).toMatchObject({ delivered: 2 });
    expect(memory.accepted.map(({ envelope }) => envelope.headers)).toEqual([{}, { tenant: 'acme' }]);
  });

  it('carry the trace context of the emit beside those of the caller, and nothing else that is in the air', async () => {
    telemetry.start();
    const baggage = propagation.createBaggage({ secret: { value: 'for nobody else' } });
    await context.with(propagation.setBaggage(context.active(), baggage), () => emit({ tenant: 'acme' }));
    const { traceId, spanId } = telemetry.span('emit').spanContext();
    expect(await stored()).toEqual([{ tenant: 'acme', traceparent: `00-${traceId}-${spanId}-01` }]);
  });

  it("keep the caller's own trace context, in which the publish takes place then", async () => {
    telemetry.start();
    await emit({ traceparent: CALLERS_TRACEPARENT, tracestate: 'shop=1' });
    expect(await stored()).toEqual([{ traceparent: CALLERS_TRACEPARENT, tracestate: 'shop=1' }]);
    await shop.dispatcher.drain();
    expect(telemetry.spans('emit')).toEqual([]);
    expect(telemetry.span('publish shop').parentSpanContext).toMatchObject({
      traceId: CALLERS_TRACE,
      spanId: CALLERS_SPAN,
    });
  });

  it('have no room for a trace context rather than none for those of the caller', async () => {
    telemetry.start();
    const full = { note: 'x'.repeat(LIMIT_BYTES - '{"note":""}'.length) };
    await emit(full);
    expect(await stored()).toEqual([full]);
  });

  it('say nothing that cannot be understood: the event is published in a trace of its own', async () => {
    telemetry.start();
    await emit({ traceparent: 'from somewhere' });
    expect(await shop.dispatcher.drain()).toMatchObject({ delivered: 1 });
    const publish = telemetry.span('publish shop');
    expect(publish.parentSpanContext).toBeUndefined();
    expect(publish.links).toEqual([]);
  });

  it('are the same for all events of one emit; each of them is published in its trace', async () => {
    telemetry.start();
    await shop.emit(placed(), placed(), placed());
    await shop.dispatcher.drain();
    const emitted = telemetry.span('emit order.placed');
    expect(emitted.attributes).toMatchObject({
      'messaging.batch.message_count': 3,
      'messaging.operation.type': 'send',
    });
    const publishes = telemetry.spans('publish shop');
    expect(publishes).toHaveLength(3);
    for (const { parentSpanContext } of publishes) expect(parentSpanContext?.spanId).toBe(emitted.spanContext().spanId);
    expect(new Set(publishes.map(({ attributes }) => attributes['messaging.message.id'])).size).toBe(3);
  });

  it('are not written by a transaction that fails, whose span tells the type of the error', async () => {
    telemetry.start();
    await expect(shop.emit(placed(-1))).rejects.toThrow('not valid');
    expect(telemetry.span('emit order.placed').attributes['error.type']).toBe('OUTBOX_INVALID_EVENT');
    expect(await stored()).toEqual([]);
  });
});
