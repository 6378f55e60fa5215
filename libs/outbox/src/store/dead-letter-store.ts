/** An event that was given up for one destination. */
export interface DeadLetter {
  /** Id of the delivery, by which it is redriven or discarded. */
  readonly id: string;
  readonly eventId: string;
  readonly destination: string;
  readonly type: string | undefined;
  readonly aggregateType: string | undefined;
  readonly aggregateId: string | undefined;
  readonly attempts: number;
  readonly error: string | undefined;
  readonly createdAt: Date;
  /** True when later events of its aggregate wait for a decision about this one. */
  readonly blocksKey: boolean;
}

/** Which dead letters: all conditions given must hold. */
export interface DeadLetterFilter {
  readonly destination?: string;
  readonly ids?: readonly string[];
}

/** Contract: each method touches dead letters only, never a delivery that is pending or done. */
export interface DeadLetterStore {
  list(filter: DeadLetterFilter, limit: number): Promise<readonly DeadLetter[]>;
  /** Makes them available at once with their attempts at zero; answers how many. */
  redrive(filter: DeadLetterFilter): Promise<number>;
  /** Removes them on purpose; their events stay in the log, and what they blocked goes on. Answers how many. */
  discard(filter: DeadLetterFilter): Promise<number>;
}
