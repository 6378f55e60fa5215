/** Whether a destination lives, from a look that costs the same however long its queue is. */
export interface VitalSigns {
  readonly destination: string;
  /** How many probes have failed in a row; 0 while it can be reached. */
  readonly failures: number;
  readonly error: string | undefined;
  readonly isPaused: boolean;
  /** Since something was last delivered, in ms; undefined when nothing ever was. */
  readonly progressMs: number | undefined;
  /** Age of the oldest work in ms, of that which was never tried at least; undefined without work. */
  readonly oldestMs: number | undefined;
  /** For how long there has been work that a dispatcher could take, in ms; undefined when there is none. */
  readonly dueMs: number | undefined;
  /** Dead letters; 1,000 stands for that many or more. */
  readonly dead: number;
}

/** Contract: answers at once, also beside a million waiting events. */
export interface VitalSignsStore {
  /** Of these destinations, and of those that dispatchers have served. */
  readVitalSigns(destinations: readonly string[]): Promise<readonly VitalSigns[]>;
}
