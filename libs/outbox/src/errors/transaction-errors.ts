import { OutboxError } from './outbox-error.js';

/** Emit was called where no transaction is active; nothing was stored. */
export class NoActiveTransactionError extends OutboxError {
  constructor(message: string) {
    super(message, { code: 'OUTBOX_NO_ACTIVE_TRANSACTION' });
  }
}

/** The EntityManager belongs to another DataSource than this outbox; nothing was stored. */
export class ForeignDataSourceError extends OutboxError {
  constructor(message: string) {
    super(message, { code: 'OUTBOX_FOREIGN_DATA_SOURCE' });
  }
}

/** The transaction that an event or a statement was meant for is over; nothing was stored. */
export class TransactionEndedError extends OutboxError {
  constructor(message: string, cause?: unknown) {
    super(message, { code: 'OUTBOX_TRANSACTION_ENDED', cause });
  }
}

/** An error inside the transaction was swallowed: PostgreSQL has answered COMMIT with ROLLBACK, or will. */
export class TransactionNotCommittedError extends OutboxError {
  constructor(message: string, cause?: unknown) {
    super(message, { code: 'OUTBOX_TRANSACTION_NOT_COMMITTED', cause });
  }
}
