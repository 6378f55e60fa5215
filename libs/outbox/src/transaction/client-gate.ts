import { type OutboxError, TransactionEndedError, TransactionNotCommittedError } from '../errors/index.js';
import type { PgClient, PgQuery } from './pg-client.js';

/** TypeORM's nested transactions, by the texts that it sends for them; savepoints that a user names are his business. */
const BEGINS_NESTED = /^SAVEPOINT typeorm_/;
const ENDS_NESTED = /^(RELEASE|ROLLBACK TO) SAVEPOINT typeorm_/;

/**
 * Refuses every statement on a client once COMMIT or ROLLBACK of its transaction was queued. Without it, work that was
 * not awaited goes on behind the rollback in auto-commit mode and its rows stay. COMMIT itself is refused while a nested
 * transaction is open: it would store the half of it that is done.
 *
 * @returns takes the gate away again, to be called before the client goes back to its pool.
 */
export function closeAfterTransaction(client: PgClient): () => void {
  let isClosed = false;
  let nested = 0;
  const original = Object.getOwnPropertyDescriptor(client, 'query');
  const query = client.query;
  client.query = function (this: PgClient, ...args: unknown[]) {
    const [statement] = args;
    const ends = statement === 'COMMIT' || statement === 'ROLLBACK';
    if (isClosed && !ends) return refuse(statement, statementTooLate());
    if (statement === 'COMMIT' && nested > 0) return refuse(statement, nestedStillOpen());
    if (ends) isClosed = true;
    if (typeof statement === 'string' && BEGINS_NESTED.test(statement)) nested += 1;
    if (typeof statement === 'string' && ENDS_NESTED.test(statement)) nested -= 1;
    return query.apply(this, args);
  };
  return () => {
    // `query` is a method of the prototype, unless somebody else has put his own on this client.
    if (original === undefined) delete (client as Partial<PgClient>).query;
    else Object.defineProperty(client, 'query', original);
  };
}

export function nestedStillOpen(): TransactionNotCommittedError {
  return new TransactionNotCommittedError(
    'a nested transaction was still open when the outer one was about to commit, so everything was rolled back. Await nested transactions.',
  );
}

function statementTooLate(): TransactionEndedError {
  return new TransactionEndedError(
    'a statement was issued after its transaction had ended, and was not executed. Await everything that the method starts.',
  );
}

function refuse(statement: unknown, error: OutboxError): unknown {
  if (isQueryObject(statement)) {
    process.nextTick(() => statement.handleError(error, undefined));
    return statement;
  }
  return Promise.reject(error);
}

function isQueryObject(statement: unknown): statement is PgQuery {
  return typeof statement === 'object' && statement !== null && 'submit' in statement && 'handleError' in statement;
}
