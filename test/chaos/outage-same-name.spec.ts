import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startDispatcherProcess } from '../support/dispatcher-process.js';
import { eventually } from '../support/eventually.js';
import { type OutboxApp, startOutboxApp } from '../support/outbox-app.js';
import { type OutboxQueue, startOutboxQueue } from '../support/outbox-queue.js';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.js';

describe('a dispatcher with the instanceName of one that was killed', { timeout: 60_000 }, () => {
  let queue: OutboxQueue;
  let receiver: RecordingServer;
  let namesake: OutboxApp | undefined;
  beforeEach(async () => {
    queue = await startOutboxQueue();
    receiver = await startRecordingServer();
  });
  afterEach(async () => {
    await namesake?.close();
    await receiver.close();
    await queue.close();
  });

  it('takes nothing that is leased under its name, and rescues all of it when the lease ends', async () => {
    const ids = await queue.emitUnordered(2);
    ids.push(...(await queue.emitOrdered('an-order', 2)));
    const killed = await startDispatcherProcess(queue.database, receiver, { LEASE_MS: 60_000, PAUSE_BEFORE: 1 });
    await killed.waitForLine(/^pausing$/);
    await killed.kill('SIGKILL');
    const owners = await queue.database.query<{ owner: string }>('select lease_owner as owner from outbox_delivery');
    expect(owners).toHaveLength(4);
    expect(new Set(owners.map(({ owner }) => owner)).size).toBe(1);

    const memory = new MemoryTransport();
    namesake = await startOutboxApp({
      database: queue.database,
      memory,
      outbox: { dispatcher: { schedule: 'loop', pollIntervalMs: 20, instanceName: owners[0]?.owner } },
    });
    const [fresh] = await queue.emitUnordered(1);
    await memory.waitForCount(1, 20_000);
    await eventually(async () => expect(await queue.deliveries()).toHaveLength(4));
    expect(memory.received.map(({ envelope }) => envelope.id)).toEqual([fresh]);

    await queue.expireLeases();
    await memory.waitForCount(5, 20_000);
    expect(memory.received.map(({ envelope }) => envelope.id).toSorted()).toEqual([fresh, ...ids].toSorted());
    expect(memory.received.slice(1).map(({ attempt }) => attempt)).toEqual([2, 2, 2, 2]);
    await eventually(async () => expect(await queue.deliveries()).toEqual([]));
  });
});
