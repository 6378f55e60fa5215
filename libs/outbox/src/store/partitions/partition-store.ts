import type { Turn } from '../turns.js';
import type { LogLayout, LogPartition } from './log-layout.js';

/** What a partition holds that keeps it from being dropped; all zero when nothing does. */
export interface PartitionContents {
  /** Deliveries that wait, are under way, or will be tried again. */
  readonly undelivered: number;
  readonly deadLetters: number;
  /** Delivered ones that were kept or archived, until retention removes them. */
  readonly kept: number;
  /** Events younger than the retention. */
  readonly young: number;
}

export type MadeDay =
  | { readonly outcome: 'made'; readonly name: string; readonly moved: number }
  | { readonly outcome: 'present' }
  /** So many events of that day lie in the default partition that moving them would keep others from being stored. */
  | { readonly outcome: 'crowded'; readonly atLeast: number };

export type DroppedPartition =
  | { readonly outcome: 'dropped' | 'absent' }
  | { readonly outcome: 'kept'; readonly contents: PartitionContents }
  /** Somebody has been reading it for longer than a lock may be waited for. */
  | { readonly outcome: 'in use'; readonly by: string };

/** `in use`: somebody holds the log for longer than a lock may be waited for; try again later. */
export type Promised = 'promised' | 'partitioned already' | 'in use';
export type Swap = 'partitioned' | 'partitioned already' | 'not prepared' | 'in use';

/**
 * Contract: each call is a short transaction of its own, in which waits for locks are bounded, and which does nothing
 * while another process is at the same. What does not get a lock in time throws (`isLockTimeout`); nothing was done then.
 */
export interface PartitionStore {
  layout(): Promise<LogLayout>;
  /** Makes the partition of the day that begins then, with what the default partition has of it. */
  makeDay(startMs: number, lockTimeoutMs: number): Promise<Turn<MadeDay>>;
  /** Removes a partition if it is proven, under its lock, to hold nothing that has to stay. */
  drop(partition: LogPartition, deliveredForMs: number, lockTimeoutMs: number): Promise<Turn<DroppedPartition>>;
}

/** Contract: the steps by which a log is partitioned while events are being stored in it. Each may be repeated. */
export interface LogConversion {
  /** @throws ConfigurationError naming everything that stands in the way. Reads the whole log, and locks nothing. */
  requirePossible(): Promise<void>;
  /** Promises PostgreSQL that the log holds nothing from then on. From that day on nothing could be stored any more. */
  promise(untilMs: number, lockTimeoutMs: number): Promise<Turn<Promised>>;
  /** Lets PostgreSQL see for itself, while events are being stored. @throws ConfigurationError when it is not so. */
  prove(lockTimeoutMs: number): Promise<Turn<void>>;
  /** Puts the partitioned log in the place of the old one, which becomes its first partition. */
  swap(untilMs: number, lockTimeoutMs: number): Promise<Turn<Swap>>;
  /** Takes the promise back. @returns whether there was one. */
  withdraw(lockTimeoutMs: number): Promise<Turn<boolean>>;
}
