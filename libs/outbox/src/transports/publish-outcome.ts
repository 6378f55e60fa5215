/** The destination acknowledged the event, or is already in the state that the event asks for. */
export interface Delivered {
  readonly kind: 'delivered';
  /** The destination said that it had this event before. */
  readonly duplicate?: boolean;
}

/** Failed for now: try again after a back-off. Costs an attempt; the last one makes a dead letter. */
export interface Retry {
  readonly kind: 'retry';
  readonly error: string;
}

/** Not possible yet: try again after `delayMs` of database time. Costs no attempt, but has an age limit. */
export interface Defer {
  readonly kind: 'defer';
  readonly reason: string;
  readonly delayMs: number;
}

/** Will never succeed: dead letter at once. */
export interface Dead {
  readonly kind: 'dead';
  readonly error: string;
}

/** The destination as a whole cannot be reached. Costs no attempt and has no age limit; pauses the destination. */
export interface Unreachable {
  readonly kind: 'unreachable';
  readonly error: string;
}

/** Not tried, because an earlier event of the same aggregate was not delivered, or time ran out. Costs no attempt. */
export interface Held {
  readonly kind: 'held';
}

export type PublishOutcome = Delivered | Retry | Defer | Dead | Unreachable | Held;

export const delivered: Delivered = { kind: 'delivered' };
export const held: Held = { kind: 'held' };
