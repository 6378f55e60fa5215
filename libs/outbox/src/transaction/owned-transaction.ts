import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { TransactionNotCommittedError } from '../errors/index.js';
import { openFrame, runInFrame } from './ambient-frame.js';
import { closeAfterTransaction, nestedStillOpen } from './client-gate.js';
import type { CommitWatch } from './commit-watch.js';
import { inExclusiveTurn } from './exclusive-turn.js';
import { destroyConnection, type PgClient } from './pg-client.js';

export type IsolationLevel = 'READ COMMITTED' | 'REPEATABLE READ' | 'SERIALIZABLE';

/**
 * Opens a transaction, runs `work` in it and commits. It resolves only when PostgreSQL answered COMMIT with COMMIT:
 * an error that was swallowed inside `work` makes it reject. The connection returns to its pool idle or not at all.
 */
export function runOwnTransaction<T>(
  dataSource: DataSource,
  watch: CommitWatch,
  isolation: IsolationLevel | undefined,
  work: (manager: EntityManager) => Promise<T>,
): Promise<T> {
  return inExclusiveTurn(dataSource, () => runOnOwnRunner(dataSource, watch, isolation, work));
}

async function runOnOwnRunner<T>(
  dataSource: DataSource,
  watch: CommitWatch,
  isolation: IsolationLevel | undefined,
  work: (manager: EntityManager) => Promise<T>,
): Promise<T> {
  watch.ensureInstalled();
  const runner = dataSource.createQueryRunner();
  const frame = openFrame(dataSource, runner);
  let openGate: (() => void) | undefined;
  try {
    const client: unknown = await runner.connect();
    openGate = isGateable(client) ? closeAfterTransaction(client) : undefined;
    await runner.startTransaction(isolation);
    const result = await runInFrame(frame, () => work(runner.manager));
    await commit(runner, watch);
    return result;
  } catch (error) {
    await rollBack(runner);
    throw error;
  } finally {
    // Not before COMMIT or ROLLBACK was answered: what was not awaited must still meet the gate, not auto-commit.
    frame.ended = true;
    openGate?.();
    watch.forget(runner);
    await giveBack(runner);
  }
}

async function commit(runner: QueryRunner, watch: CommitWatch): Promise<void> {
  if (depthOf(runner) > 1) throw nestedStillOpen();
  try {
    await runner.commitTransaction();
  } catch (error) {
    throw refusalBehind(error) ?? error;
  }
  const answer = watch.answerOf(runner);
  if (answer === 'COMMIT' || !isPostgres(runner)) return;
  throw new TransactionNotCommittedError(
    `PostgreSQL answered COMMIT with ${answer ?? 'nothing'}: an error inside the transaction was swallowed and nothing was stored. Let database errors leave the transaction, or catch them around a nested one.`,
  );
}

/** TypeORM wraps what the gate says about COMMIT into an error of its own. */
function refusalBehind(error: unknown): TransactionNotCommittedError | undefined {
  const cause = typeof error === 'object' && error !== null && 'driverError' in error ? error.driverError : undefined;
  return cause instanceof TransactionNotCommittedError ? cause : undefined;
}

/** Ends every level that is still open. A failure here is not reported: the error that led here says more. */
async function rollBack(runner: QueryRunner): Promise<void> {
  while (runner.isTransactionActive && !runner.isReleased) {
    try {
      await runner.rollbackTransaction();
    } catch (error) {
      await destroyConnection(runner, error instanceof Error ? error : new Error('rollback failed'));
      return;
    }
  }
}

async function giveBack(runner: QueryRunner): Promise<void> {
  if (!runner.isReleased) await runner.release();
}

/** TypeORM counts levels in a protected field; more than one at commit means an un-awaited nested transaction. */
function depthOf(runner: QueryRunner): number {
  return (runner as unknown as { transactionDepth?: number }).transactionDepth ?? 0;
}

function isPostgres(runner: QueryRunner): boolean {
  return (runner.manager.dataSource ?? runner.manager.connection).options.type === 'postgres';
}

function isGateable(client: unknown): client is PgClient {
  return typeof client === 'object' && client !== null && 'query' in client && typeof client.query === 'function';
}
