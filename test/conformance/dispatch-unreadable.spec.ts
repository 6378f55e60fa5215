import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BareDispatcher } from '../support/bare-dispatcher.js';
import { type OutboxQueue, startOutboxQueue } from '../support/outbox-queue.js';

describe('an event that cannot be read', () => {
  let queue: OutboxQueue;
  beforeEach(async () => {
    queue = await startOutboxQueue();
  });
  afterEach(() => queue.close());

  it('because its row in the log is gone becomes a dead letter alone, and its batch is delivered', async () => {
    const [gone, ...others] = await queue.emitUnordered(5);
    await queue.database.query('delete from outbox_event where id = $1', [gone]);
    const transport = new MemoryTransport();
    const dispatcher = new BareDispatcher({ store: queue.openStore(), transport });
    expect(await dispatcher.dispatchOnce()).toMatchObject({ claimed: 5, delivered: 4, dead: 1 });
    expect(transport.received.map(({ envelope }) => envelope.id).toSorted()).toEqual(others.toSorted());
    expect(await queue.deliveries()).toMatchObject([
      { eventId: gone, status: 1, error: `event ${gone} is not in the event log any more` },
    ]);
    expect(dispatcher.logger.lines.filter((line) => line.startsWith('error dead letter'))).toHaveLength(1);
  });

  it('does not stop the claim that makes a dead letter of it after its last attempt', async () => {
    const [gone] = await queue.emitUnordered(1);
    await queue.database.query('update outbox_delivery set attempts = 12, lease_until = now()');
    await queue.database.query('delete from outbox_event where id = $1', [gone]);
    const dispatcher = new BareDispatcher({ store: queue.openStore(), transport: new MemoryTransport() });
    expect(await dispatcher.drain()).toMatchObject({ claimed: 1, dead: 1 });
    expect(await queue.deliveries()).toMatchObject([{ eventId: gone, status: 1, attempts: 12 }]);
  });
});
