import { RabbitmqTransport } from 'nestjs-transactional-outbox/rabbitmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { outgoingEvent } from '../integration/transport-events.js';
import { BareDispatcher } from '../support/bare-dispatcher.js';
import { startOutboxQueue } from '../support/outbox-queue.js';
import { mayLackRabbitmqServer, type RabbitmqServer, startRabbitmqServer } from '../support/rabbitmq-server.js';

const PATIENT = { timeout: 20_000 };

describe.skipIf(mayLackRabbitmqServer)('RabbitmqTransport while RabbitMQ has an alarm and blocks who publishes', () => {
  let server: RabbitmqServer;
  beforeAll(async () => {
    server = await startRabbitmqServer();
  }, 120_000);
  afterAll(() => server.stop());

  const raiseAlarm = () => server.ctl('set_vm_memory_high_watermark', 'absolute', '1');
  const endAlarm = () => server.ctl('set_vm_memory_high_watermark', '0.9');
  const openTransport = (): RabbitmqTransport =>
    new RabbitmqTransport({
      url: server.url,
      exchange: 'orders',
      topology: async (channel) => {
        await channel.assertExchange('orders', 'fanout');
        await channel.assertQueue('shipping');
        await channel.bindQueue('shipping', 'orders', '');
      },
    });

  it('is unreachable, with the reason, from the first event on, and goes on when the alarm is over', async () => {
    const transport = openTransport();
    await transport.connect();
    await raiseAlarm();
    const publish = () => transport.publish([outgoingEvent(), outgoingEvent()], AbortSignal.timeout(1000));
    const blocked = { kind: 'unreachable', error: expect.stringContaining('blocks publishers: low on memory') };
    // RabbitMQ tells a connection only when it is sent something; later ones are not even sent.
    for (const _ of [1, 2]) expect(await publish()).toEqual([blocked, blocked]);
    await endAlarm();
    await expect
      .poll(async () => (await publish()).map(({ kind }) => kind), PATIENT)
      .toEqual(['delivered', 'delivered']);
    await transport.close();
  }, 120_000);

  it('has its events wait without a spent attempt, and says in the log for what they wait', async () => {
    const queue = await startOutboxQueue();
    await queue.emitOrdered('order-1', 2);
    await queue.emitUnordered(3);
    await raiseAlarm();
    const transport = openTransport();
    const limits = { publishTimeoutMs: 1000, pauseBaseMs: 10, pauseCapMs: 10 };
    const dispatcher = new BareDispatcher({ store: queue.openStore(), transport, ...limits });
    for (const _ of [1, 2, 3]) expect(await dispatcher.dispatchOnce()).not.toMatchObject({ delivered: 1 });
    expect((await queue.deliveries()).map(({ status, attempts }) => [status, attempts])).toEqual(Array(5).fill([0, 0]));
    expect(dispatcher.logger.lines.join('\n')).toContain('blocks publishers: low on memory');
    await endAlarm();
    await expect
      .poll(async () => {
        await dispatcher.drain();
        return queue.deliveries();
      }, PATIENT)
      .toEqual([]);
    await transport.close();
    await queue.close();
  }, 120_000);
});
