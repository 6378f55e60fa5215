import { trace } from '@opentelemetry/api';
import { InboxService } from 'nestjs-transactional-outbox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { orderPlaced } from '../integration/inbox-app.js';
import { outgoingEvent, publishOne } from '../integration/transport-events.js';
import { rabbitmq } from '../support/brokers.js';
import { Telemetry } from '../support/telemetry.js';
import { type HttpReceiver, openHttpReceiver, openRabbitmqReceiver, REFUSED_CENTS } from './scene.js';

const shipping = { 'messaging.consumer.group.name': 'shipping' };

describe('what an inbox counts', () => {
  let telemetry: Telemetry;
  let receiver: HttpReceiver;
  beforeAll(async () => {
    telemetry = new Telemetry().start();
    receiver = await openHttpReceiver();
  });
  afterAll(async () => {
    await receiver.close();
    await telemetry.stop();
  });

  const messages = async (outcome: string): Promise<number | undefined> =>
    telemetry.value('inbox.messages', { ...shipping, 'inbox.outcome': outcome });

  it('begins at zero for every consumer, so that the first failure is seen as a growth', async () => {
    for (const outcome of ['processed', 'duplicate', 'conflict', 'refused', 'unavailable', 'failed'])
      expect(await messages(outcome), outcome).toBe(0);
    expect(await telemetry.value('inbox.parked.messages', shipping)).toBe(0);
  });

  it('is each message once, by what became of it', async () => {
    const message = orderPlaced(100);
    await receiver.app.deliver(message);
    await receiver.app.deliver(message);
    await receiver.app.deliver(orderPlaced(200, message.id));
    await receiver.app.deliver(orderPlaced(REFUSED_CENTS));
    await receiver.app.deliver(orderPlaced(-1));
    await receiver.app.deliver(orderPlaced(100), { secret: null });
    expect(await messages('processed')).toBe(1);
    expect(await messages('duplicate')).toBe(1);
    expect(await messages('conflict')).toBe(1);
    expect(await messages('failed')).toBe(1);
    expect(await messages('refused'), 'one whose fields are wrong, one without a signature').toBe(2);
  });

  it('is timed by what became of it, without what was refused at the door', async () => {
    const points = await telemetry.points('messaging.process.duration');
    expect(Object.fromEntries(points.map(({ attributes, value }) => [attributes['inbox.outcome'], value]))).toEqual({
      processed: 1,
      duplicate: 1,
      conflict: 1,
      failed: 1,
      refused: 1,
    });
    expect((await telemetry.points('messaging.client.consumed.messages')).map(({ value }) => value)).toEqual(
      expect.arrayContaining([2, 1]),
    );
  });

  it('happens inside a span, which the handler finds active', async () => {
    telemetry.forgetSpans();
    const active = await receiver.app.app
      .get(InboxService)
      .process(
        { consumer: 'asking', event: orderPlacedEvent() },
        async () => trace.getActiveSpan()?.spanContext().spanId,
      );
    expect(active.result).toBe(telemetry.span('process asking').spanContext().spanId);
  });
});

describe.skipIf(rabbitmq.mayLack)('what an inbox counts of a broker', () => {
  it('a message that is parked', async () => {
    const telemetry = new Telemetry().start();
    const receiver = await openRabbitmqReceiver();
    await publishOne(receiver.transport, outgoingEvent({ payload: { amountCents: 'no number' } }));
    const parked = (consumer: string): Promise<number | undefined> =>
      telemetry.value('inbox.parked.messages', { 'messaging.consumer.group.name': consumer });
    await expect.poll(() => parked('shipping')).toBe(1);
    await expect.poll(() => parked('inventory')).toBe(1);
    await receiver.transport.close?.();
    await receiver.close();
    await telemetry.stop();
  });
});

function orderPlacedEvent(): { id: string; type: string; payload: unknown } {
  const { id, type, data } = orderPlaced();
  return { id, type, payload: data };
}
