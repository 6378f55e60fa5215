import type { EventEmitter } from 'node:events';
import type { EntityManager, QueryRunner } from 'typeorm';
import { NoActiveTransactionError, TransactionEndedError, TransactionNotCommittedError } from '../errors/index.js';
import { clientOf, type PgClient, type PgQueryConfig, type PgResult, queryClassOf } from './pg-client.js';
import { PreparedSession } from './prepared-session.js';

/** Counts the transactions that a client has begun or ended; two equal numbers mean the same transaction. */
interface Epoch {
  value: number;
}

/** SQLSTATE of every statement behind one that failed. */
const IN_FAILED_TRANSACTION = '25P02';

const epochs = new WeakMap<PgClient, Epoch>();

/** Proof of one transaction, taken while it is certainly the right one. */
export interface TransactionTicket {
  /**
   * Runs a statement in that transaction, or does nothing and fails: with TransactionEndedError when it is over, with
   * TransactionNotCommittedError when an earlier statement failed, so that it cannot commit any more.
   *
   * @param build gets the id that the statement has to compare with `pg_current_xact_id_if_assigned()`, doing nothing
   *   when they differ, or null where the statement needs no check of its own.
   */
  query(build: (transactionId: string | null) => PgQueryConfig): Promise<PgResult>;
}

/** The ticket of the transaction that is open on this manager. @throws NoActiveTransactionError when none is. */
export function ticketOf(manager: EntityManager): TransactionTicket {
  if (manager.queryRunner === undefined) throw new NoActiveTransactionError('this manager has no transaction.');
  return takeTicket(manager.queryRunner);
}

/**
 * Takes the ticket of the runner's open transaction. It must be taken synchronously in the call that is meant for it:
 * a flag looked at later is still set while the ROLLBACK is on its way, and the row would land behind it.
 *
 * @throws NoActiveTransactionError when no transaction is open on the runner.
 */
export function takeTicket(runner: QueryRunner): TransactionTicket {
  const client = runner.isReleased ? undefined : clientOf(runner);
  if (client === undefined || !runner.isTransactionActive) {
    throw new NoActiveTransactionError(
      'no transaction is active on this query runner. Call startTransaction() and await it first.',
    );
  }
  return ticketBySubmit(runner, client) ?? ticketByTransactionId(client);
}

/**
 * Checks status and epoch in `submit()`, which node-postgres calls when it is this query's turn, after the answer to
 * the previous one: there the status is exact. Undefined where the client cannot do it (pg-native, pipelining, old pg).
 */
function ticketBySubmit(runner: QueryRunner, client: PgClient): TransactionTicket | undefined {
  const Query = queryClassOf(runner.manager.dataSource ?? runner.manager.connection);
  if (Query === undefined || client.pipeline || !client.connection || !client.getTransactionStatus) return undefined;
  const epoch = epochOf(client, client.connection);
  const session = PreparedSession.of(client, client.connection);
  const ticket = epoch.value;

  class BoundQuery extends Query {
    override submit(connection: EventEmitter): Error | null | undefined {
      const status = client.getTransactionStatus?.();
      if (epoch.value !== ticket || status === 'I' || status === null) return endedError();
      if (status === 'E') return failedError();
      if (!session.keepsStatements) this.name = undefined;
      return super.submit(connection);
    }
  }

  return {
    query: (build) =>
      new Promise((resolve, reject) => {
        const statement = build(null);
        client.query(
          new BoundQuery(statement, undefined, (error, result) => {
            if (error) return reject(error);
            if (statement.name !== undefined) session.learn(result.rows[0]?.backend_pid);
            resolve(result);
          }),
        );
      }),
  };
}

/**
 * Needs nothing but SQL: reads the transaction's id at once, and the statement itself compares it with the current one.
 * Costs a round trip for each ticket.
 */
function ticketByTransactionId(client: PgClient): TransactionTicket {
  const owner = sendTo(client, { text: 'select pg_current_xact_id()::text as id', values: [] });
  owner.catch(() => undefined); // query() reports it; this only keeps an unused ticket from counting as unhandled
  return {
    query: async (build) => {
      try {
        const id = (await owner).rows[0]?.id;
        return await sendTo(client, build(String(id)));
      } catch (error) {
        throw hasState(error, IN_FAILED_TRANSACTION) ? failedError() : error;
      }
    },
  };
}

function hasState(error: unknown, sqlState: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === sqlState;
}

async function sendTo(client: PgClient, statement: PgQueryConfig): Promise<PgResult> {
  return (await client.query(statement.text, [...statement.values])) as PgResult;
}

function epochOf(client: PgClient, connection: EventEmitter): Epoch {
  const known = epochs.get(client);
  if (known !== undefined) return known;
  const epoch: Epoch = { value: 0 };
  // ROLLBACK does not count: ROLLBACK TO SAVEPOINT has the same tag. The status after a real one does.
  connection.prependListener('commandComplete', (message: { text?: string }) => {
    if (/^(COMMIT|BEGIN|START TRANSACTION)$/.test(message.text ?? '')) epoch.value += 1;
  });
  connection.prependListener('readyForQuery', (message: { status?: string }) => {
    if (message.status === 'I') epoch.value += 1;
  });
  epochs.set(client, epoch);
  return epoch;
}

/** What is thrown for a statement whose transaction is over, also by a caller whose statement found that out itself. */
export function endedError(): TransactionEndedError {
  return new TransactionEndedError(
    'the transaction that this event belongs to has ended, so the event was not stored. Await emit() inside the transaction.',
  );
}

function failedError(): TransactionNotCommittedError {
  return new TransactionNotCommittedError(
    'an earlier statement of this transaction failed, so PostgreSQL will roll it back and the event was not stored. Let the error leave the transaction.',
  );
}
