/** A connected client of node-postgres, or one that a pool lent. */
export interface PostgresConnection {
  /** What the server, or who answered in its place, gave as the number of its process. */
  readonly processID?: number | null;
  query(text: string): Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }>;
}

/**
 * Whether a pooler (PgBouncer or its like) answers on this connection in the place of PostgreSQL: then the process
 * number of the handshake is not that of the process which runs the statements. Costs one round trip.
 *
 * Behind a pooler nothing may be expected of a session: in PgBouncer's transaction mode there are no LISTEN, no
 * `set`, and, before PgBouncer 1.21, no named statements. In its session mode all of these work, and this is true there
 * as well. False also where nobody can tell: a client without a process number, as that of pg-native.
 */
export async function detectPooler(connection: PostgresConnection): Promise<boolean> {
  const { rows } = await connection.query('select pg_backend_pid() as pid');
  return typeof connection.processID === 'number' && connection.processID !== Number(rows[0]?.pid);
}
