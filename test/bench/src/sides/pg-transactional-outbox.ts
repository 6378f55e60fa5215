import { DatabaseSetupExporter, getDisabledLogger, initializePollingMessageListener } from 'pg-transactional-outbox';
import type { BenchDatabase } from '../measure/bench-server.js';
import { FILLER } from './bench-events.js';
import { HandledCount, type Peer } from './peer.js';

const TABLE = 'outbox';
const NEXT_MESSAGES = 'next_outbox_messages';

export interface PollingSettings {
  readonly batchSize: number;
  readonly connections: number;
}

/** Its polling listener: messages marked `parallel`, the protections off as it recommends for an outbox. */
export async function startPgTransactionalOutbox(
  database: BenchDatabase,
  { batchSize, connections }: PollingSettings = { batchSize: 50, connections: 20 },
): Promise<Peer> {
  const [who] = await database.query<{ role: string; name: string }>(
    'select current_user as role, current_database() as name',
  );
  if (who === undefined) throw new Error('the database did not say who we are');
  await database.query(
    DatabaseSetupExporter.createPollingScript({
      outboxOrInbox: 'outbox',
      database: who.name,
      schema: 'public',
      table: TABLE,
      listenerRole: who.role,
      nextMessagesName: NEXT_MESSAGES,
    }),
  );
  return {
    async fill(events) {
      await database.query(`truncate ${TABLE}`);
      await database.query(
        `insert into ${TABLE} (id, aggregate_type, aggregate_id, message_type, concurrency, payload)
         select gen_random_uuid(), 'bench', n::text, 'bench.noted', 'parallel',
           jsonb_build_object('benchId', n::text, 'number', n, 'filler', $2::text)
         from generate_series(1, $1::int) n`,
        [events, FILLER],
      );
      await database.query(`vacuum analyze ${TABLE}`);
    },
    async drain(events) {
      const handled = new HandledCount(events);
      const [shutdown] = initializePollingMessageListener(
        {
          outboxOrInbox: 'outbox',
          dbListenerConfig: { connectionString: database.url },
          // A pool is made of it, whatever its declared type says.
          dbHandlerConfig: { connectionString: database.url, max: connections } as { connectionString: string },
          settings: {
            dbSchema: 'public',
            dbTable: TABLE,
            enableMaxAttemptsProtection: false,
            enablePoisonousMessageProtection: false,
            nextMessagesFunctionName: NEXT_MESSAGES,
            nextMessagesBatchSize: batchSize,
            // Short, because a message that met a lock (its own poll takes some) waits for so long.
            nextMessagesLockInMs: 500,
            nextMessagesPollingIntervalInMs: 10,
          },
        },
        { handle: async () => handled.add() },
        getDisabledLogger(),
        // The default takes single messages until as many calls as a batch has messages were made.
        { batchSizeStrategy: async () => batchSize },
      );
      const perSecond = await handled.perSecond(
        database,
        `select exists (select from ${TABLE} where processed_at is null) as is_left`,
      );
      await shutdown();
      return perSecond;
    },
    close: async () => undefined,
  };
}
