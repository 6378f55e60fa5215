import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import {
  ConfigurationError,
  ForeignDataSourceError,
  NoActiveTransactionError,
  TransactionEndedError,
} from '../errors/index.js';
import { ambientRunner, findFrame, openFrame, runInFrame } from './ambient-frame.js';
import { dataSourceOf, enlistDataSource } from './ambient-hooks.js';
import { CommitWatch } from './commit-watch.js';
import { type IsolationLevel, runOwnTransaction } from './owned-transaction.js';
import { type TransactionTicket, takeTicket } from './transaction-bound-query.js';

/**
 * Where another library keeps its current EntityManager (nestjs-cls, typeorm-transactional). Asked when this library
 * has no transaction of its own open; a manager without an active transaction counts as none.
 */
export type CurrentManager = (dataSource: DataSource) => EntityManager | undefined;

/** A ticket with the runner whose transaction it is for. */
export interface BoundTicket extends TransactionTicket {
  readonly runner: QueryRunner;
  /** Calls back once the transaction has really committed; see CommitWatch. */
  onCommit(callback: () => void): void;
}

/** Who is the current EntityManager of one DataSource, and how to open or join its transaction. */
export class TransactionContext {
  private readonly watch: CommitWatch;

  constructor(
    readonly dataSource: DataSource,
    /** Name for error messages. */
    private readonly name: string,
    private readonly foreignManager: CurrentManager | undefined,
  ) {
    this.watch = new CommitWatch(dataSource);
    enlistDataSource(dataSource);
  }

  /** The manager of the transaction that the running code takes part in, whoever opened it. */
  current(): EntityManager | undefined {
    const frame = findFrame(this.dataSource);
    if (frame !== undefined && !frame.ended) return frame.runner.manager;
    const foreign = this.foreignManager?.(this.dataSource);
    return foreign?.queryRunner?.isTransactionActive ? foreign : undefined;
  }

  /**
   * Runs `work` in the transaction that is there already, or in a new one that commits when `work` resolves.
   *
   * @param joinable a manager with an active transaction, which is more to the point than the ambient one.
   */
  async run<T>(
    work: (manager: EntityManager) => Promise<T>,
    options: { isolation?: IsolationLevel; joinable?: EntityManager } = {},
  ): Promise<T> {
    const existing = options.joinable ?? this.current();
    if (existing?.queryRunner === undefined) {
      return runOwnTransaction(this.dataSource, this.watch, options.isolation, work);
    }
    if (options.isolation !== undefined) {
      throw new ConfigurationError(
        `isolation ${options.isolation} was asked for inside a transaction that is already open. Ask for it where the outermost transaction begins.`,
      );
    }
    // The frame that is there ends with its transaction; one of our own would end with this call, and what the call
    // did not await would then auto-commit while the transaction is still open.
    if (existing.queryRunner === ambientRunner(this.dataSource)) return work(existing);
    const frame = openFrame(this.dataSource, existing.queryRunner);
    try {
      return await runInFrame(frame, () => work(existing));
    } finally {
      frame.ended = true;
    }
  }

  /** True for a manager of this DataSource with an active transaction. */
  isActive(manager: EntityManager): boolean {
    return dataSourceOf(manager) === this.dataSource && manager.queryRunner?.isTransactionActive === true;
  }

  /**
   * Proof of the transaction of `manager`, or of the ambient one. Synchronous on purpose: see TransactionTicket.
   *
   * @throws NoActiveTransactionError, TransactionEndedError, ForeignDataSourceError
   */
  ticket(manager?: EntityManager): BoundTicket {
    const runner = (manager === undefined ? this.requireAmbient() : this.requireOwn(manager)).queryRunner;
    if (runner === undefined) throw this.noTransaction();
    this.watch.ensureInstalled();
    const ticket = takeTicket(runner);
    return { runner, query: ticket.query, onCommit: (callback) => this.watch.afterCommit(runner, callback) };
  }

  private requireAmbient(): EntityManager {
    const current = this.current();
    if (current !== undefined) return current;
    if (findFrame(this.dataSource)?.ended) {
      throw new TransactionEndedError(
        'emit() was called after the transaction of this call had ended, and nothing was stored. Await it inside the decorated method or transaction.',
      );
    }
    throw this.noTransaction();
  }

  private requireOwn(manager: EntityManager): EntityManager {
    const owner = dataSourceOf(manager);
    if (owner === undefined) {
      throw new NoActiveTransactionError(
        'emit() was given something that is no EntityManager. Pass the manager of the open transaction first.',
      );
    }
    if (owner !== this.dataSource) {
      throw new ForeignDataSourceError(
        `emit() was given a manager of ${nameOf(owner)}, but this outbox is in ${this.name} (${nameOf(this.dataSource)}). Use the outbox of that DataSource, or its transaction.`,
      );
    }
    if (manager.queryRunner?.isTransactionActive !== true || manager.queryRunner.isReleased) throw this.noTransaction();
    return manager;
  }

  private noTransaction(): NoActiveTransactionError {
    return new NoActiveTransactionError(
      `emit() was called where no transaction of ${this.name} is active, and nothing was stored. Use @EmitsEvent, outbox.transaction(), or pass the manager of dataSource.transaction().`,
    );
  }
}

function nameOf(dataSource: DataSource): string {
  // Of the driver, not of the options: those may hold a URL instead.
  return `database "${dataSource.driver.database ?? 'unnamed'}"`;
}
