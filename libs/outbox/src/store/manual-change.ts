/** Who changes something by hand, and why; it is written down together with the change. */
export interface ManualChange {
  /** 1 to 200 characters. */
  readonly by: string;
  /** 1 to 1,000 characters. */
  readonly reason: string;
}

/** What a change by hand has reached. */
export interface ChangedDeliveries {
  readonly count: number;
  readonly destinations: readonly string[];
}

/** The values of `record-operation`: who, why, and what was asked for. */
export function operationValues({ by, reason }: ManualChange, details: object): readonly [string, string, string] {
  return [by, reason, JSON.stringify(details)];
}

/** From rows of a destination and its count each. */
export function changedIn(rows: readonly { readonly [column: string]: unknown }[]): ChangedDeliveries {
  return {
    count: rows.reduce((sum, { count }) => sum + Number(count), 0),
    destinations: rows.map(({ destination }) => String(destination)),
  };
}
