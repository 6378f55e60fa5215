import { ConfigurationError } from '../../errors/index.js';
import { CARRY_OVER_SQL } from '../sql/carry-over.sql.js';
import { findOtherIdSql, isEmptySql, READ_PROMISE_SQL } from '../sql/convert-log.sql.js';
import { LOG_OBSTACLES_SQL } from '../sql/log-obstacles.sql.js';
import { TAKE_OVER_OWNER_SQL } from '../sql/make-partition.sql.js';
import type { SqlClient, SqlRow } from '../sql-client.js';
import { sqlStateOf } from '../sql-state.js';
import type { OutboxNames } from '../table-names.js';
import type { Turn, Turns } from '../turns.js';
import {
  attachLegacySql,
  createDefaultSql,
  EMPTY_SEARCH_PATH_SQL,
  lockLogSql,
  promiseBoundSql,
  proveBoundSql,
  replaceLogSql,
  withdrawBoundSql,
} from './conversion-ddl.js';
import { lowestIdAt } from './event-day.js';
import { readLogLayout } from './log-layout.js';
import { longHolder } from './long-holder.js';
import { dropPartitionSql } from './partition-ddl.js';
import type { LogConversion, Promised, Swap } from './partition-store.js';

const CHECK_VIOLATION = '23514';

export class PostgresLogConversion implements LogConversion {
  private readonly legacy: string;

  constructor(
    private readonly client: SqlClient,
    private readonly names: OutboxNames,
    private readonly turns: Turns,
  ) {
    this.legacy = names.table(names.partition('legacy'));
  }

  async requirePossible(): Promise<void> {
    const { rows: obstacles } = await this.client.query(LOG_OBSTACLES_SQL, [this.names.event]);
    const { rows: others } = await this.client.query(findOtherIdSql(this.names), []);
    const problems = [
      ...obstacles.map(({ obstacle, advice }) => `${obstacle}: ${advice}`),
      ...others.map(
        ({ id }) =>
          `event ${id} has an id that is no UUID version 7, which says nothing of its day: write events by emit(), or wait until retention has removed those of others`,
      ),
    ];
    if (problems.length === 0) return;
    throw new ConfigurationError(
      `the event log ${this.names.event} cannot be partitioned as it is. ${problems.join('; ')}. Nothing was changed.`,
    );
  }

  promise(untilMs: number, lockTimeoutMs: number): Promise<Turn<Promised>> {
    return this.turns.take(lockTimeoutMs, async (client): Promise<Promised> => {
      if (await this.isInUse(client, lockTimeoutMs)) return 'in use';
      if ((await readLogLayout(client, this.names)).isPartitioned) return 'partitioned already';
      await client.query(promiseBoundSql(this.names, lowestIdAt(untilMs)), []);
      return 'promised';
    });
  }

  async prove(lockTimeoutMs: number): Promise<Turn<void>> {
    try {
      return await this.turns.take(lockTimeoutMs, async (client) => {
        // What was replaced by another process in the meantime has no promise any more; `swap` will say so.
        const { rows } = await client.query(READ_PROMISE_SQL, [this.names.event, '']);
        if (rows.length > 0) await client.query(proveBoundSql(this.names), []);
      });
    } catch (error) {
      if (sqlStateOf(error) !== CHECK_VIOLATION) throw error;
      throw new ConfigurationError(
        `the event log ${this.names.event} holds ids of a time that is yet to come: the clock of a process that emits was days ahead. Remove these events once they are delivered, and try again. Nothing was changed.`,
        error,
      );
    }
  }

  swap(untilMs: number, lockTimeoutMs: number): Promise<Turn<Swap>> {
    const { names, legacy } = this;
    return this.turns.take(lockTimeoutMs, async (client): Promise<Swap> => {
      if (await this.isInUse(client, lockTimeoutMs)) return 'in use';
      await client.query(lockLogSql(names), []);
      if ((await readLogLayout(client, names)).isPartitioned) return 'partitioned already';
      const untilId = lowestIdAt(untilMs);
      const { rows: promises } = await client.query(READ_PROMISE_SQL, [names.event, untilId]);
      if (promises[0]?.is_proven !== true || promises[0].is_of_bound !== true) return 'not prepared';

      await client.query(EMPTY_SEARCH_PATH_SQL, []);
      const { rows: carriedOver } = await client.query(CARRY_OVER_SQL, [names.event, legacy]);
      await inOrder(client, replaceLogSql(names, legacy, names.index('event', 'legacy')));
      const { rows } = await client.query(isEmptySql(names, legacy), []);
      const isEmpty = rows[0]?.is_empty === true;
      if (!isEmpty) await inOrder(client, attachLegacySql(names, legacy, untilId));
      const rest = names.table(names.partition('default'));
      await client.query(createDefaultSql(names, rest), []);
      await inOrder(client, statementsOf(carriedOver));
      const { rows: takeOver } = await client.query(TAKE_OVER_OWNER_SQL, [names.event, rest]);
      await inOrder(client, statementsOf(takeOver));
      if (isEmpty) await client.query(dropPartitionSql(legacy), []);
      return 'partitioned';
    });
  }

  withdraw(lockTimeoutMs: number): Promise<Turn<boolean>> {
    return this.turns.take(lockTimeoutMs, async (client) => {
      if ((await readLogLayout(client, this.names)).isPartitioned) return false;
      const { rows } = await client.query(READ_PROMISE_SQL, [this.names.event, '']);
      if (rows.length === 0) return false;
      await client.query(withdrawBoundSql(this.names.event), []);
      return true;
    });
  }

  private async isInUse(client: SqlClient, lockTimeoutMs: number): Promise<boolean> {
    return (await longHolder(client, [this.names.event], lockTimeoutMs)) !== undefined;
  }
}

function statementsOf(rows: readonly SqlRow[]): string[] {
  return rows.map(({ statement }) => String(statement));
}

async function inOrder(client: SqlClient, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await client.query(statement, []);
}
