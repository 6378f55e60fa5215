import { TransactionEndedError } from '../errors/index.js';
import type { PgClient, PgQuery } from './pg-client.js';

/**
 * Refuses every statement on a client once COMMIT or ROLLBACK of its transaction was queued. Without it, work that was
 * not awaited goes on behind the rollback in auto-commit mode and its rows stay.
 *
 * @returns takes the gate away again, to be called before the client goes back to its pool.
 */
export function closeAfterTransaction(client: PgClient): () => void {
  let closed = false;
  const query = client.query;
  client.query = function (this: PgClient, ...args: unknown[]) {
    const [statement] = args;
    const ends = statement === 'COMMIT' || statement === 'ROLLBACK';
    if (closed && !ends) return refuse(statement);
    if (ends) closed = true;
    return query.apply(this, args);
  };
  return () => {
    // `query` is a method of the prototype: deleting our own property brings it back, patches of others included.
    delete (client as Partial<PgClient>).query;
  };
}

function refuse(statement: unknown): unknown {
  const error = new TransactionEndedError(
    'a statement was issued after its transaction had ended, and was not executed. Await everything that the method starts.',
  );
  if (isQueryObject(statement)) {
    process.nextTick(() => statement.handleError(error, undefined));
    return statement;
  }
  return Promise.reject(error);
}

function isQueryObject(statement: unknown): statement is PgQuery {
  return typeof statement === 'object' && statement !== null && 'submit' in statement && 'handleError' in statement;
}
