import { setTimeout as wait } from 'node:timers/promises';
import type { TcpProxy } from '../../support/tcp-proxy.js';

/** As a broker that restarts looks from outside: every connection ends, and none is taken for a second. */
export async function cutConnections(proxy: TcpProxy): Promise<void> {
  proxy.refuse(/^/);
  await wait(1000);
  proxy.refuse(undefined);
}
