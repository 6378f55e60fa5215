import { expect, it } from 'vitest';
import {
  type HeldEvent,
  type TransportUnderTest,
  transportContract,
} from '../../libs/outbox/src/testing/transport-contract/index.js';
import type { Transport } from '../../libs/outbox/src/transports/index.js';
import { outgoingEvent, publishOne } from '../integration/transport-events.js';
import { startTcpProxy } from '../support/tcp-proxy.js';

/** The parts of a TransportUnderTest that exist before the destination does. */
export type DeclaredTransport = Omit<TransportUnderTest, 'take'>;

/**
 * Declares the cases of the contract; the destination may come later, in `beforeAll`.
 *
 * @param take as in TransportUnderTest.
 */
export function itKeepsTheContract(
  declared: DeclaredTransport,
  take: (count: number) => Promise<readonly HeldEvent[]>,
): void {
  for (const { title, run } of transportContract({ ...declared, take })) it(title, run);
}

/**
 * @param url of the destination.
 * @param open a transport to the destination at another address, which leads there.
 */
export function itGoesOnAfterACut(
  url: string,
  open: (url: string) => Transport,
  take: (count: number) => Promise<readonly HeldEvent[]>,
): void {
  it('goes on after its connection was cut, and never says delivered without a confirmation', async () => {
    const proxy = await startTcpProxy(url);
    const transport = open(proxy.through(url));
    expect(await publishOne(transport)).toEqual({ kind: 'delivered' });
    await take(1);
    proxy.refuse(/./s);
    const event = outgoingEvent();
    await expect.poll(async () => (await publishOne(transport, event)).kind).toBe('unreachable');
    proxy.refuse(undefined);
    await expect.poll(async () => (await publishOne(transport, event)).kind).toBe('delivered');
    expect((await take(1)).at(-1)?.id).toBe(event.envelope.id);
    await transport.close?.();
    await proxy.close();
  });
}
