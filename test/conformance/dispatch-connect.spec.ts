import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BareDispatcher } from '../support/bare-dispatcher.js';
import { eventually } from '../support/eventually.js';
import { gate } from '../support/gate.js';
import { type OutboxQueue, startOutboxQueue } from '../support/outbox-queue.js';

/** Connects as told, and remembers how often it was asked. */
class ConnectingTransport extends MemoryTransport {
  connects = 0;

  constructor(private readonly answer: (nth: number) => Promise<void>) {
    super();
  }

  connect(): Promise<void> {
    this.connects += 1;
    return this.answer(this.connects);
  }
}

describe('a transport that connects', () => {
  let queue: OutboxQueue;
  beforeEach(async () => {
    queue = await startOutboxQueue();
    await queue.emitUnordered(3);
  });
  afterEach(() => queue.close());

  const dispatcherOver = (transport: ConnectingTransport, publishTimeoutMs = 10_000): BareDispatcher =>
    new BareDispatcher({
      store: queue.openStore(),
      transport,
      publishTimeoutMs,
      pauseBaseMs: 10,
      pauseCapMs: 10,
      batchSize: 1,
    });

  it('is connected once, before anything is claimed, although several ask at the same time', async () => {
    const connected = gate();
    const transport = new ConnectingTransport(() => connected.opened);
    const dispatcher = dispatcherOver(transport);
    const asking = [dispatcher.dispatchOnce(), dispatcher.dispatchOnce(), dispatcher.dispatchOnce()];
    await eventually(() => expect(transport.connects).toBe(1));
    expect((await queue.deliveries()).every(({ hasLease }) => !hasLease)).toBe(true);
    connected.open();
    expect((await Promise.all(asking)).map((summary) => summary?.delivered)).toEqual([1, 1, 1]);
    expect(transport.connects).toBe(1);
  });

  it('and fails is connected again after a pause, and no attempt is spent', async () => {
    const transport = new ConnectingTransport(async (nth) => {
      if (nth < 3) throw new Error('refused');
    });
    const dispatcher = dispatcherOver(transport);
    expect(await dispatcher.dispatchOnce()).toBeUndefined();
    expect((await queue.deliveries()).map(({ attempts }) => attempts)).toEqual([0, 0, 0]);
    await eventually(async () => expect(await dispatcher.dispatchOnce()).toMatchObject({ delivered: 1 }));
    expect(transport.connects).toBe(3);
    expect(transport.received[0]?.attempt).toBe(1);
  });

  it('and hangs counts as unreachable, is not called a second time meanwhile, and may still succeed', async () => {
    const connected = gate();
    const transport = new ConnectingTransport(() => connected.opened);
    const dispatcher = dispatcherOver(transport, 100);
    expect(await dispatcher.dispatchOnce()).toBeUndefined();
    const complaint = dispatcher.logger.lines.find((line) => line.includes('destination unreachable'));
    expect(complaint).toContain('no connection within 100 ms');
    await eventually(async () => {
      await dispatcher.dispatchOnce();
      const said = dispatcher.logger.lines.filter((line) => line.includes('destination unreachable'));
      expect(said.length).toBeGreaterThanOrEqual(2);
    });
    expect(transport.connects).toBe(1);
    connected.open();
    await eventually(async () => expect(await dispatcher.dispatchOnce()).toMatchObject({ delivered: 1 }));
  });
});
