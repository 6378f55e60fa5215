import type { Completion } from '../config/index.js';
import {
  CLAIM_COLUMNS,
  type ClaimFacts,
  isDelivery,
  isReaped,
  toClaimedDelivery,
  toReapedDelivery,
} from './claimed-row.js';
import type {
  Claim,
  ClaimAnswer,
  ClaimedDelivery,
  ClaimRequest,
  DeliveryStore,
  Finalization,
} from './delivery-store.js';
import { claimDeliveriesSql } from './sql/claim-deliveries.sql.js';
import { finalizeDeliveredSql } from './sql/finalize-delivered.sql.js';
import { finalizeUndeliveredSql } from './sql/finalize-undelivered.sql.js';
import { prepareDestinationSql } from './sql/prepare-destination.sql.js';
import { releaseLaneSql } from './sql/release-lane.sql.js';
import { renewLeasesSql } from './sql/renew-leases.sql.js';
import { unblockKeysSql } from './sql/unblock-keys.sql.js';
import type { SqlClient, SqlSteps, Statement, Step, StepResult } from './sql-client.js';
import type { OutboxNames } from './table-names.js';

export class PostgresDeliveryStore implements DeliveryStore {
  private readonly prepareSql: string;
  private readonly unblockSql: string;
  private readonly claiming: Statement;
  private readonly renewing: Statement;
  private readonly releasingLane: Statement;
  private readonly delivered: Statement;
  private readonly undelivered: Statement;

  constructor(
    private readonly client: SqlClient & SqlSteps,
    names: OutboxNames,
    completion: Completion,
  ) {
    this.prepareSql = prepareDestinationSql(names);
    this.unblockSql = unblockKeysSql(names);
    this.claiming = { name: 'outbox-claim', text: claimDeliveriesSql(names) };
    this.renewing = { name: 'outbox-renew', text: renewLeasesSql(names) };
    this.releasingLane = { name: 'outbox-release-lane', text: releaseLaneSql(names) };
    this.delivered = { name: 'outbox-delivered', text: finalizeDeliveredSql(names, completion) };
    this.undelivered = { name: 'outbox-undelivered', text: finalizeUndeliveredSql(names) };
  }

  async prepare(destination: string): Promise<void> {
    await this.client.query(this.prepareSql, [destination]);
  }

  async claim(request: ClaimRequest): Promise<ClaimAnswer> {
    const [result] = await this.client.execute([this.claimStep(request, { isAlone: true })]);
    return toAnswer(request.destination, result);
  }

  async renew(claim: Claim, ids: readonly string[], leaseMs: number): Promise<number> {
    const values = [claim.token, bigints(ids), leaseMs, claim.destination, claim.lane ?? null];
    const [result] = await this.client.execute([{ statement: this.renewing, values }]);
    return numberIn(result);
  }

  async finalize(claim: Claim, outcomes: Finalization): Promise<number> {
    const steps = this.finalizeSteps(claim, outcomes);
    return this.missed(outcomes, steps, await this.client.execute(steps));
  }

  async finalizeAndClaim(
    claim: Claim,
    outcomes: Finalization,
    request: ClaimRequest,
  ): Promise<{ missed: number; answer: ClaimAnswer }> {
    const steps = this.finalizeSteps(claim, outcomes);
    const results = await this.client.execute([...steps, this.claimStep(request, { isAlone: false })]);
    return { missed: this.missed(outcomes, steps, results), answer: toAnswer(request.destination, results.at(-1)) };
  }

  async unblock(ids: readonly string[]): Promise<void> {
    await this.client.query(this.unblockSql, [ids]);
  }

  private claimStep(request: ClaimRequest, { isAlone }: { readonly isAlone: boolean }): Step {
    const { destination, owner, leaseMs, batchSize, maxAttempts, batchBytes, fromUs } = request;
    const values = [destination, owner, leaseMs, batchSize, maxAttempts, batchBytes, fromUs ?? null, isAlone];
    return { statement: this.claiming, values };
  }

  /** The lane comes first, and each statement only if there is something for it to do. */
  private finalizeSteps(claim: Claim, outcomes: Finalization): Step[] {
    const { token, destination, lane } = claim;
    const { delivered, rescheduled, dead, released } = outcomes;
    const steps: Step[] = [];
    if (lane !== undefined) steps.push({ statement: this.releasingLane, values: [token, destination, lane] });
    if (delivered.length > 0) steps.push({ statement: this.delivered, values: [token, bigints(delivered)] });
    if (rescheduled.length + dead.length + released.length > 0) {
      const values = [
        token,
        destination,
        lane ?? null,
        rescheduled.map((one) => one.id),
        rescheduled.map((one) => one.delayMs),
        rescheduled.map((one) => (one.refundAttempt ? 1 : 0)),
        rescheduled.map((one) => one.error),
        dead.map((one) => one.id),
        dead.map((one) => one.error),
        dead.map((one) => one.blocksKey),
        bigints(released),
      ];
      steps.push({ statement: this.undelivered, values });
    }
    return steps;
  }

  /** How many outcomes were not written, because another claim had taken the delivery over. */
  private missed(outcomes: Finalization, steps: readonly Step[], results: readonly StepResult[]): number {
    const { delivered, rescheduled, dead, released } = outcomes;
    const written = steps.reduce((sum, { statement }, index) => {
      if (statement === this.delivered) return sum + (results[index]?.count ?? 0);
      return statement === this.undelivered ? sum + numberIn(results[index]) : sum;
    }, 0);
    return delivered.length + rescheduled.length + dead.length + released.length - written;
  }
}

function toAnswer(destination: string, result: StepResult | undefined): ClaimAnswer {
  const rows = result?.rows ?? [];
  // The columns are those of the statement; a test prepares it against the migrated schema.
  const withFacts = rows.find((row) => row[CLAIM_COLUMNS.facts] != null);
  const facts = JSON.parse(withFacts?.[CLAIM_COLUMNS.facts] ?? '{}') as Partial<ClaimFacts>;
  const found = rows.filter(isDelivery);
  if (found.length === 0) return emptyAnswer(facts);
  const claim: Claim = {
    token: String(facts.token),
    destination,
    lane: facts.lane ?? undefined,
    isProbe: facts.probe ?? false,
    deliveries: found
      .filter((row) => !isReaped(row))
      .map(toClaimedDelivery)
      .sort(byId),
    reaped: found.filter(isReaped).map(toReapedDelivery),
    lastUs: facts.lastUs ?? undefined,
  };
  return { kind: 'claimed', claim };
}

function emptyAnswer({ open, isPaused, resumeMs, contended, probe, nextDueMs }: Partial<ClaimFacts>): ClaimAnswer {
  if (isPaused === true) return { kind: 'paused-by-hand' };
  if (open === false) return { kind: 'paused', resumeMs: Math.max(0, resumeMs ?? 0) };
  // A probe does not ask again in a moment: by then it is taken, for a whole lease. It is to be given back.
  if (contended && !probe) return { kind: 'contended' };
  return { kind: 'nothing', isProbe: probe ?? false, nextDueMs: nextDueMs ?? undefined };
}

/** 64-bit numbers without a sign, as text: the shorter is the smaller. */
function byId(one: ClaimedDelivery, other: ClaimedDelivery): number {
  return one.id.length - other.id.length || (one.id < other.id ? -1 : 1);
}

function numberIn(result: StepResult | undefined): number {
  return Number(result?.rows[0]?.[0] ?? 0);
}

/** An array of numbers as PostgreSQL reads it; node-postgres would quote and escape each of them. */
function bigints(ids: readonly string[]): string {
  return `{${ids.join(',')}}`;
}
