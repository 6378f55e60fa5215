import type { ManualChange } from './manual-change.js';

/** What all dispatchers know of a destination. */
export interface DestinationState {
  readonly destination: string;
  /** How many probes have failed in a row; 0 while it can be reached. */
  readonly failures: number;
  readonly error: string | undefined;
  /** When the next probe is due; undefined while it can be reached, or when that is now. */
  readonly resumeAt: Date | undefined;
  /** Deliveries since the tables were made; counted every second, so a process that dies leaves some out. */
  readonly delivered: number;
  /** When something was last delivered, to within a second. */
  readonly progressedAt: Date | undefined;
  /** Set when somebody has paused it. */
  readonly pause: { readonly at: Date; readonly by: string; readonly reason: string } | undefined;
}

/** Contract: after `pause` no claim gets deliveries of the destination until `resume`; what is leased is finished. */
export interface DestinationStore {
  list(): Promise<readonly DestinationState[]>;
  /** @returns false when it was paused already. */
  pause(destination: string, change: ManualChange): Promise<boolean>;
  /** @returns false when it was not paused. */
  resume(destination: string, change: ManualChange): Promise<boolean>;
}

/** Contract: adds up what all dispatchers report. */
export interface ProgressStore {
  note(destination: string, delivered: number): Promise<void>;
}
