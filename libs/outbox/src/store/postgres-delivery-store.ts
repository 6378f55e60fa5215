import type { Completion } from '../config/index.js';
import { type ClaimedRow, type EmptyRow, toClaimedDelivery, toReapedDelivery } from './claimed-row.js';
import type { Claim, ClaimAnswer, ClaimRequest, DeliveryStore, Finalization } from './delivery-store.js';
import { claimDeliveriesSql } from './sql/claim-deliveries.sql.js';
import { finalizeDeliveriesSql } from './sql/finalize-deliveries.sql.js';
import { prepareDestinationSql } from './sql/prepare-destination.sql.js';
import { renewLeasesSql } from './sql/renew-leases.sql.js';
import { unblockKeysSql } from './sql/unblock-keys.sql.js';
import type { SqlClient } from './sql-client.js';
import type { OutboxNames } from './table-names.js';

export class PostgresDeliveryStore implements DeliveryStore {
  private readonly prepareSql: string;
  private readonly claimSql: string;
  private readonly renewSql: string;
  private readonly finalizeSql: string;
  private readonly unblockSql: string;

  constructor(
    private readonly client: SqlClient,
    names: OutboxNames,
    completion: Completion,
  ) {
    this.prepareSql = prepareDestinationSql(names);
    this.claimSql = claimDeliveriesSql(names);
    this.renewSql = renewLeasesSql(names);
    this.finalizeSql = finalizeDeliveriesSql(names, completion);
    this.unblockSql = unblockKeysSql(names);
  }

  async prepare(destination: string): Promise<void> {
    await this.client.query(this.prepareSql, [destination]);
  }

  async claim(request: ClaimRequest): Promise<ClaimAnswer> {
    const { destination, owner, leaseMs, batchSize, maxAttempts, batchBytes } = request;
    const values = [destination, owner, leaseMs, batchSize, maxAttempts, batchBytes];
    // The columns are those of the statement; a test prepares it against the migrated schema.
    const answer = (await this.client.query(this.claimSql, values)).rows as unknown as readonly (
      | ClaimedRow
      | EmptyRow
    )[];
    const rows = answer.filter((row): row is ClaimedRow => row.id !== null);
    const [first] = rows;
    if (first === undefined) return emptyAnswer(answer[0] as EmptyRow | undefined);
    const claim: Claim = {
      token: first.token,
      destination,
      lane: first.lane ?? undefined,
      isProbe: first.is_probe,
      deliveries: rows.filter((row) => !row.is_reaped).map(toClaimedDelivery),
      reaped: rows.filter((row) => row.is_reaped).map(toReapedDelivery),
    };
    return { kind: 'claimed', claim };
  }

  async renew(claim: Claim, ids: readonly string[], leaseMs: number): Promise<number> {
    const values = [claim.token, ids, leaseMs, claim.destination, claim.lane ?? null];
    const { rows } = await this.client.query(this.renewSql, values);
    return Number(rows[0]?.renewed);
  }

  async finalize(claim: Claim, outcomes: Finalization): Promise<number> {
    const { delivered, rescheduled, dead, released } = outcomes;
    const values = [
      claim.token,
      claim.destination,
      claim.lane ?? null,
      delivered,
      rescheduled.map((one) => one.id),
      rescheduled.map((one) => one.delayMs),
      rescheduled.map((one) => (one.refundAttempt ? 1 : 0)),
      rescheduled.map((one) => one.error),
      dead.map((one) => one.id),
      dead.map((one) => one.error),
      dead.map((one) => one.blocksKey),
      released,
    ];
    const { rows } = await this.client.query(this.finalizeSql, values);
    const intended = delivered.length + rescheduled.length + dead.length + released.length;
    return intended - Number(rows[0]?.changed);
  }

  async unblock(ids: readonly string[]): Promise<void> {
    await this.client.query(this.unblockSql, [ids]);
  }
}

function emptyAnswer(row: EmptyRow | undefined): ClaimAnswer {
  if (row?.is_open === false) return { kind: 'paused', resumeMs: Math.max(0, row.resume_ms ?? 0) };
  // A probe does not ask again in a moment: by then it is taken, for a whole lease. It is to be given back.
  if (row?.is_contended && !row.is_probe) return { kind: 'contended' };
  return { kind: 'nothing', isProbe: row?.is_probe ?? false };
}
