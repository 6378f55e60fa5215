/** What the transport uses of a KafkaJS producer, or of any client with its shape. */
export interface KafkaProducer {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  sendBatch(batch: {
    readonly topicMessages: { topic: string; messages: KafkaMessage[] }[];
    /** -1: all replicas in sync have it. */
    readonly acks: number;
    /** Milliseconds that the broker may take. */
    readonly timeout: number;
  }): Promise<unknown>;
}

export interface KafkaMessage {
  readonly key: string;
  readonly value: Buffer;
  readonly headers: Record<string, string>;
  /** Milliseconds since 1970. */
  readonly timestamp: string;
}
