export { outsideTransaction } from './ambient-frame.js';
export { dataSourceOf } from './ambient-hooks.js';
export type { IsolationLevel } from './owned-transaction.js';
export type { PgResult } from './pg-client.js';
export { endedError, type TransactionTicket, ticketOf } from './transaction-bound-query.js';
export { type BoundTicket, type CurrentManager, TransactionContext } from './transaction-context.js';
