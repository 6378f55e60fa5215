import type { EventEmitter } from 'node:events';
import type { PgClient } from './pg-client.js';

/** What PostgreSQL answers to the commands after which named statements are gone, which node-postgres does not notice. */
const FORGOTTEN = /^(DISCARD ALL|DEALLOCATE|DEALLOCATE ALL)$/;

const sessions = new WeakMap<PgClient, PreparedSession>();

/**
 * Whether named statements stay on a connection. They save PostgreSQL most of the work of a short statement, its
 * planning, but behind a pooler in transaction mode the next statement may meet another session, which does not know
 * the name: an error that would cost the caller his transaction. So a name is used only after a statement without one
 * has told that the process which runs it is the one that the handshake named; poolers name a process of their own.
 */
export class PreparedSession {
  private isDirect = false;
  private hasForgotten = false;

  /** The one of this client, which goes with it. */
  static of(client: PgClient, connection: EventEmitter): PreparedSession {
    const known = sessions.get(client);
    if (known !== undefined) return known;
    const session = new PreparedSession(client);
    connection.prependListener('commandComplete', (message: { text?: string }) => {
      if (FORGOTTEN.test(message.text ?? '')) session.hasForgotten = true;
    });
    sessions.set(client, session);
    return session;
  }

  private constructor(private readonly client: PgClient) {}

  /** Exact when it is asked in `submit()`. Once false after it was true, it stays so: somebody clears this session. */
  get keepsStatements(): boolean {
    return this.isDirect && !this.hasForgotten;
  }

  /** @param backendPid of the process that has just run a statement of this client. */
  learn(backendPid: unknown): void {
    this.isDirect = typeof backendPid === 'number' && backendPid === this.client.processID;
  }
}
