import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Cluster } from './kafkajs-internals.js';

letControllersBeMissing();

const PROGRAM = ['/usr/bin/kcat', '/usr/local/bin/kcat', '/opt/homebrew/bin/kcat'].find(existsSync);

/** Whether tests may do without Kafka's protocol: on a machine without kcat they are skipped, and say so; never in CI. */
export const mayLackKafka = PROGRAM === undefined && !process.env.CI;
if (mayLackKafka) {
  console.warn('\nkcat IS NOT INSTALLED: tests with Kafka are SKIPPED. On Debian: apt-get install kcat\n');
}

export interface KafkaCluster {
  /** Addresses of its brokers. */
  readonly brokers: string[];
  close(): Promise<void>;
}

/**
 * librdkafka's mock cluster, which kcat brings: the real wire protocol, topics of four partitions that are made when they
 * are asked for, everything in memory. It ends with its standard input, so nothing outlives the test.
 */
export async function startKafkaCluster(): Promise<KafkaCluster> {
  if (PROGRAM === undefined) throw new Error('kcat is not installed. On Debian: apt-get install kcat');
  const options = ['-P', '-t', 'init', '-X', 'test.mock.num.brokers=1', '-b', 'nowhere:9', '-d', 'mock'];
  const child = spawn(PROGRAM, options, { stdio: ['pipe', 'ignore', 'pipe'] });
  const brokers = await new Promise<string>((resolve, reject) => {
    child.once('error', reject).once('exit', () => reject(new Error('kcat ended before its cluster ran')));
    // Read to its end, also later: a full pipe would stop it.
    createInterface(child.stderr).on('line', (line) => {
      const address = /bootstrap\.servers=(\S+)/.exec(line)?.[1];
      if (address !== undefined) resolve(address);
    });
  });
  return {
    brokers: brokers.split(','),
    async close() {
      const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
      child.stdin.end();
      await ended;
    },
  };
}

/**
 * The mock cluster names a controller that is none of its brokers; KafkaJS asks it for the ids of idempotent producers.
 * Stays for the process: it changes nothing where the controller is known.
 */
function letControllersBeMissing(): void {
  const find = Cluster.prototype.findControllerBroker;
  Cluster.prototype.findControllerBroker = async function (this: InstanceType<typeof Cluster>) {
    const { metadata } = this.brokerPool;
    const isKnown = metadata?.brokers.some(({ nodeId }) => nodeId === metadata.controllerId) ?? true;
    if (!isKnown && metadata?.brokers[0] !== undefined) metadata.controllerId = metadata.brokers[0].nodeId;
    return find.call(this);
  };
}
