import { createRequire } from 'node:module';

interface KafkaJsCluster {
  readonly brokerPool: {
    readonly metadata: { controllerId: number; readonly brokers: readonly { readonly nodeId: number }[] } | null;
  };
  findControllerBroker(): Promise<unknown>;
}

const require = createRequire(import.meta.url);

/** The class by which KafkaJS knows a cluster; it exports none, and has no types for it. */
export const Cluster = require('kafkajs/src/cluster/index.js') as {
  readonly prototype: KafkaJsCluster;
  new (): KafkaJsCluster;
};

interface ErrorCode {
  readonly type: string;
  readonly code: number;
  readonly retriable: boolean;
}

interface ProtocolErrors {
  readonly errorCodes: readonly ErrorCode[];
  createErrorFromCode(code: number): Error;
}

/** What a broker may answer, and the errors that KafkaJS makes of it; no types either. */
export const { errorCodes, createErrorFromCode } = require('kafkajs/src/protocol/error.js') as ProtocolErrors;

/** Calls, calls again and wraps what it is thrown as a producer does. */
export const createRetry = require('kafkajs/src/retry/index.js') as (options: {
  readonly retries: number;
  readonly initialRetryTime: number;
}) => <T>(work: () => Promise<T>) => Promise<T>;
