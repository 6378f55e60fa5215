import { createRequire } from 'node:module';

interface KafkaJsCluster {
  readonly brokerPool: {
    readonly metadata: { controllerId: number; readonly brokers: readonly { readonly nodeId: number }[] } | null;
  };
  findControllerBroker(): Promise<unknown>;
}

/** The class by which KafkaJS knows a cluster; it exports none, and has no types for it. */
export const Cluster = createRequire(import.meta.url)('kafkajs/src/cluster/index.js') as {
  readonly prototype: KafkaJsCluster;
  new (): KafkaJsCluster;
};
