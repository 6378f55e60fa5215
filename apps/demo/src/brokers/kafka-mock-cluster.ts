import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Cleanup } from '../cleanup.js';
import { BrokerMissingError } from './broker.js';

/**
 * librdkafka's mock cluster, which kcat brings: the real protocol, everything in memory. It ends with its standard input,
 * so it does not outlive the demo.
 *
 * @returns addresses of its brokers.
 */
export async function startMockCluster(cleanup: Cleanup, howToStart: readonly string[]): Promise<string> {
  const options = ['-P', '-t', 'init', '-X', 'test.mock.num.brokers=1', '-b', 'nowhere:9', '-d', 'mock'];
  const child = spawn('kcat', options, { stdio: ['pipe', 'ignore', 'pipe'] });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const addresses = new Promise<string>((resolve) => {
    // Read to its end, also later: a full pipe would stop it.
    createInterface(child.stderr).on('line', (line) => {
      const address = /bootstrap\.servers=(\S+)/.exec(line)?.[1];
      if (address !== undefined) resolve(address);
    });
  });
  try {
    await once(child, 'spawn');
  } catch (error) {
    const all = ['apt-get install kcat, which the demo then starts by itself', ...howToStart];
    throw new BrokerMissingError('Kafka', 'an address of its own, without kcat,', all, error);
  }
  await cleanup.add("Kafka's mock cluster", async () => {
    child.stdin.end();
    await ended;
  });
  const endedEarly = ended.then(() => {
    throw new BrokerMissingError('Kafka', 'an address of its own', howToStart, new Error('kcat has no mock cluster'));
  });
  return Promise.race([addresses, endedEarly]);
}
