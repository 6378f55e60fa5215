import { vi } from 'vitest';
import { isDelivery } from '../../libs/outbox/src/store/claimed-row.js';
import { DispatcherPool } from '../../libs/outbox/src/store/dispatcher-pool.js';
import type { StepResult } from '../../libs/outbox/src/store/sql-client.js';
import { eventually } from './eventually.js';

export interface ClaimWatch {
  /** How often the dispatchers of this process have looked for work so far. */
  readonly claims: number;
  /** How many of these looks name a table, quoted and with its schema. */
  claimsNaming(table: string): number;
  /** Resolves when they have looked more often than `known`. */
  moreThan(known: number): Promise<void>;
  /** Resolves when everything that was claimed is finalized. */
  quiet(): Promise<void>;
  stop(): void;
}

interface Sent {
  /** Of the claim; undefined when there was none among the steps. */
  readonly text: string | undefined;
  readonly isFinalize: boolean;
  /** Deliveries claimed; undefined while PostgreSQL has not answered. */
  readonly found: number | undefined;
}

/** Sees every claim and every finalize that the dispatchers of this process send. */
export function watchClaims(): ClaimWatch {
  const execute = vi.spyOn(DispatcherPool.prototype, 'execute');

  const sent = (): Sent[] =>
    execute.mock.calls.map(([steps], index) => {
      const claiming = steps.findIndex(({ statement }) => statement.name === 'outbox-claim');
      const answer = execute.mock.settledResults[index];
      const results: readonly StepResult[] | undefined = answer?.type === 'fulfilled' ? answer.value : undefined;
      return {
        text: steps[claiming]?.statement.text,
        isFinalize: steps.some(({ statement }) => /^outbox-(un)?delivered$/.test(statement.name)),
        found: answer?.type === 'rejected' ? 0 : results && (results[claiming]?.rows ?? []).filter(isDelivery).length,
      };
    });
  const claims = (): Sent[] => sent().filter(({ text }) => text !== undefined);

  return {
    get claims() {
      return claims().length;
    },
    claimsNaming: (table) => claims().filter(({ text }) => text?.includes(table)).length,
    moreThan: (known) =>
      eventually(() => {
        if (claims().length <= known) throw new Error(`no claim after ${known}`);
      }),
    quiet: () =>
      eventually(() => {
        const all = sent();
        const fruitful = claims().filter(({ found }) => found !== 0).length;
        const finalized = all.filter(({ isFinalize }) => isFinalize).length;
        if (all.length === 0 || all.some(({ found }) => found === undefined) || fruitful !== finalized)
          throw new Error(`${claims().length} claims, ${fruitful} with deliveries, ${finalized} finalized`);
      }),
    stop: () => execute.mockRestore(),
  };
}
