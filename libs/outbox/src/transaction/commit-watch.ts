import type { DataSource, EntitySubscriberInterface, QueryRunner } from 'typeorm';

/** The part of TypeORM's AfterQueryEvent that is read here. */
interface FinishedQuery {
  readonly query: string;
  readonly queryRunner: QueryRunner;
  readonly success: boolean;
  readonly rawResults?: unknown;
}

/**
 * Knows what PostgreSQL really answered to COMMIT: after a failed statement it answers `ROLLBACK`, and neither TypeORM
 * nor its after-commit event notices. It never throws and returns no promise, because TypeORM would turn either into
 * a rejected or delayed transaction that is committed all the same.
 */
export class CommitWatch {
  private readonly answers = new WeakMap<QueryRunner, string>();
  private readonly callbacks = new WeakMap<QueryRunner, Set<() => void>>();
  private readonly subscriber: EntitySubscriberInterface = {
    afterQuery: (event) => this.observe(event),
    afterTransactionRollback: (event) => {
      if (!event.queryRunner.isTransactionActive) this.callbacks.delete(event.queryRunner);
    },
  };

  constructor(private readonly dataSource: DataSource) {}

  /** To be called before each use: `destroy()` and `initialize()` of a DataSource give it a new list of subscribers. */
  ensureInstalled(): void {
    if (!this.dataSource.subscribers.includes(this.subscriber)) this.dataSource.subscribers.push(this.subscriber);
  }

  /** Command tag with which the last COMMIT of this runner was answered; undefined while there was none. */
  answerOf(runner: QueryRunner): string | undefined {
    return this.answers.get(runner);
  }

  forget(runner: QueryRunner): void {
    this.answers.delete(runner);
    this.callbacks.delete(runner);
  }

  /** Calls back on a later turn of the event loop, once per transaction and callback, only if it really committed. */
  afterCommit(runner: QueryRunner, callback: () => void): void {
    const waiting = this.callbacks.get(runner);
    if (waiting === undefined) this.callbacks.set(runner, new Set([callback]));
    else waiting.add(callback);
  }

  private observe(event: FinishedQuery): void {
    if (!/^\s*(commit|end)\b/i.test(event.query)) return;
    const answer = event.success ? commandTag(event.rawResults) : undefined;
    if (answer !== undefined) this.answers.set(event.queryRunner, answer);
    const waiting = this.callbacks.get(event.queryRunner);
    this.callbacks.delete(event.queryRunner);
    if (answer !== 'COMMIT' || waiting === undefined) return;
    for (const callback of waiting) setImmediate(callback);
  }
}

/** A text of several statements has several results; one COMMIT among them is enough for a hint. */
function commandTag(result: unknown): string | undefined {
  if (Array.isArray(result)) return result.map(commandTag).find((tag) => tag === 'COMMIT');
  if (typeof result !== 'object' || result === null || !('command' in result)) return undefined;
  return typeof result.command === 'string' ? result.command : undefined;
}
