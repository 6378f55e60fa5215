import { countPartitionContentsSql } from '../sql/count-partition-contents.sql.js';
import { mustPartitionStaySql } from '../sql/drop-partition.sql.js';
import { countInDefaultSql, moveFromDefaultSql, TAKE_OVER_OWNER_SQL } from '../sql/make-partition.sql.js';
import type { SqlClient } from '../sql-client.js';
import type { OutboxNames } from '../table-names.js';
import type { Turn, Turns } from '../turns.js';
import { DAY_MS, dayName, lowestIdAt } from './event-day.js';
import { coversDay, type LogLayout, type LogPartition, readLogLayout } from './log-layout.js';
import { longHolder } from './long-holder.js';
import {
  attachPartitionSql,
  createPartitionSql,
  dropPartitionSql,
  lockDefaultSql,
  lockPartitionSql,
} from './partition-ddl.js';
import type { DroppedPartition, MadeDay, PartitionContents, PartitionStore } from './partition-store.js';

/** To move them takes some tenths of a second, in which whoever stores into the default partition waits. */
const MOST_MOVED = 10_000;
const LOWEST_ID = '00000000-0000-0000-0000-000000000000';

export class PostgresPartitionStore implements PartitionStore {
  constructor(
    private readonly client: SqlClient,
    private readonly names: OutboxNames,
    private readonly turns: Turns,
  ) {}

  layout(): Promise<LogLayout> {
    return readLogLayout(this.client, this.names);
  }

  makeDay(startMs: number, lockTimeoutMs: number): Promise<Turn<MadeDay>> {
    return this.turns.take(lockTimeoutMs, async (client): Promise<MadeDay> => {
      // Another process may have made it since.
      const { partitions } = await readLogLayout(client, this.names);
      if (partitions.some((partition) => coversDay(partition, startMs))) return { outcome: 'present' };
      const [fromId, toId] = [lowestIdAt(startMs), lowestIdAt(startMs + DAY_MS)];
      const misplaced = partitions.find(({ kind }) => kind === 'default');
      const from = misplaced && this.names.table(misplaced.name);
      const present = from === undefined ? 0 : await this.countIn(client, from, fromId, toId);
      if (present > MOST_MOVED) return { outcome: 'crowded', atLeast: present };

      const name = this.names.partition(dayName(startMs));
      const partition = this.names.table(name);
      await client.query(createPartitionSql(this.names, partition), []);
      const { rows: takeOver } = await client.query(TAKE_OVER_OWNER_SQL, [this.names.event, partition]);
      for (const { statement } of takeOver) await client.query(String(statement), []);
      const moved = from === undefined ? 0 : await this.move(client, from, partition, fromId, toId);
      await client.query(attachPartitionSql(this.names, partition, fromId, toId), []);
      return { outcome: 'made', name, moved };
    });
  }

  async drop(partition: LogPartition, deliveredForMs: number, lockTimeoutMs: number): Promise<Turn<DroppedPartition>> {
    const table = this.names.table(partition.name);
    const values = [...idsOf(partition), deliveredForMs];
    // Most of what has to stay is seen without a lock.
    const contents = await this.contentsOf(table, partition, values);
    if (contents === undefined) return { isOurs: true, result: { outcome: 'absent' } };
    if (holdsAnything(contents)) return { isOurs: true, result: { outcome: 'kept', contents } };
    const turn = await this.turns.take(lockTimeoutMs, async (client) => {
      const by = await longHolder(client, [this.names.event, table], lockTimeoutMs);
      if (by !== undefined) return { outcome: 'in use', by } as const;
      if (!(await this.has(client, partition))) return { outcome: 'absent' } as const;
      await client.query(lockPartitionSql(this.names, table), []);
      const { rows } = await client.query(mustPartitionStaySql(this.names, table), values);
      if (rows[0]?.must_stay !== false) return undefined;
      await client.query(dropPartitionSql(table), []);
      return { outcome: 'dropped' } as const;
    });
    if (!turn.isOurs) return turn;
    if (turn.result !== undefined) return { isOurs: true, result: turn.result };
    // Counted when nobody waits for it any more.
    const found = await this.contentsOf(table, partition, values);
    return { isOurs: true, result: found === undefined ? { outcome: 'absent' } : { outcome: 'kept', contents: found } };
  }

  private async has(client: SqlClient, { name }: LogPartition): Promise<boolean> {
    return (await readLogLayout(client, this.names)).partitions.some((partition) => partition.name === name);
  }

  private async countIn(client: SqlClient, table: string, fromId: string, toId: string): Promise<number> {
    const { rows } = await client.query(countInDefaultSql(this.names, table), [fromId, toId, MOST_MOVED + 1]);
    return Number(rows[0]?.present);
  }

  /** The lock comes first: what is stored there between the move and the attaching would make that fail. */
  private async move(client: SqlClient, from: string, to: string, fromId: string, toId: string): Promise<number> {
    await client.query(lockDefaultSql(from), []);
    const { rows } = await client.query(moveFromDefaultSql(this.names, from, to), [fromId, toId]);
    return Number(rows[0]?.moved);
  }

  /** Undefined when another process has dropped it. */
  private async contentsOf(
    table: string,
    partition: LogPartition,
    values: readonly unknown[],
  ): Promise<PartitionContents | undefined> {
    if (!(await this.has(this.client, partition))) return undefined;
    const { rows } = await this.client.query(countPartitionContentsSql(this.names, table), values);
    const [row] = rows;
    return {
      undelivered: Number(row?.undelivered),
      deadLetters: Number(row?.dead_letters),
      kept: Number(row?.kept),
      young: Number(row?.young),
    };
  }
}

function holdsAnything(contents: PartitionContents): boolean {
  return Object.values(contents).some((count) => count > 0);
}

/** @throws TypeError for a partition without an upper bound, of which nobody can say that its time is over. */
function idsOf({ name, from, to }: LogPartition): [from: string, to: string] {
  if (to === undefined) throw new TypeError(`partition ${name} has no upper bound`);
  return [from === undefined ? LOWEST_ID : lowestIdAt(from.getTime()), lowestIdAt(to.getTime())];
}
