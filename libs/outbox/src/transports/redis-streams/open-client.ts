import type { Cluster, Redis } from 'ioredis';

/**
 * Connects a client, unless making it has done so already. Its errors are for whoever waits for an answer: without a
 * listener ioredis prints them.
 *
 * @throws the reason, of which the rejection of ioredis often says only that the connection is closed.
 */
export async function openClient<T extends Redis | Cluster>(client: T): Promise<T> {
  let reason: unknown;
  client.on('error', (error) => {
    reason = error;
  });
  try {
    if (client.status === 'wait') await client.connect();
    return client;
  } catch (error) {
    client.disconnect();
    throw reason ?? error;
  }
}
