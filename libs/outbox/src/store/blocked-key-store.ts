import type { ChangedDeliveries, ManualChange } from './manual-change.js';

/** An aggregate whose events for one destination wait for one of them. */
export interface BlockedKey {
  readonly destination: string;
  readonly aggregateType: string | undefined;
  readonly aggregateId: string | undefined;
  /** The event that holds the others back. */
  readonly heldBy: {
    /** Id of its delivery. */
    readonly id: string;
    readonly eventId: string;
    readonly type: string | undefined;
    /** `dead` waits for a person, `waiting` for its next attempt. */
    readonly state: 'dead' | 'waiting';
    readonly availableAt: Date;
    readonly error: string | undefined;
  };
  /** How many later events of the aggregate wait behind it. */
  readonly followers: number;
}

export interface BlockedKeyFilter {
  readonly destination?: string;
  readonly aggregateType?: string;
  readonly aggregateId?: string;
}

/** Contract: release touches dead letters only; what waits for its next attempt keeps its place. */
export interface BlockedKeyStore {
  list(filter: BlockedKeyFilter, limit: number): Promise<readonly BlockedKey[]>;
  /** Lets the followers of the selected dead letters pass. */
  release(filter: BlockedKeyFilter, change: ManualChange): Promise<ChangedDeliveries>;
}
