/** The queue of one destination at one moment. */
export interface DestinationBacklog {
  readonly destination: string;
  /** Waiting, also for a retry. */
  readonly pending: number;
  /** Under a valid lease. */
  readonly processing: number;
  /** Under a lease that ended without an outcome: a dispatcher died, or the lease is too short. */
  readonly expiredLeases: number;
  readonly dead: number;
  /** The headline figure: age in ms of the oldest event that is neither delivered nor dead; undefined without one. */
  readonly oldestUndeliveredMs: number | undefined;
  /** How many undelivered events have been tried how often. */
  readonly attempts: ReadonlyMap<number, number>;
}

/** Contract: answers from one statement, so that the figures fit together. */
export interface BacklogStore {
  read(): Promise<readonly DestinationBacklog[]>;
}
