import pg from 'pg';
import { vi } from 'vitest';
import { eventually } from './eventually.js';

export interface ClaimWatch {
  /** How often the dispatchers of this process have looked for work so far. */
  readonly claims: number;
  /** How many of these looks name a table, quoted and with its schema. */
  claimsNaming(table: string): number;
  /** Resolves when they have looked more often than `known`. */
  moreThan(known: number): Promise<void>;
  /** Resolves when everything that was claimed is finalized, and the last look found nothing. */
  quiet(): Promise<void>;
  stop(): void;
}

interface Sent {
  readonly text: string;
  readonly isClaim: boolean;
  readonly isFinalize: boolean;
  /** Undefined while PostgreSQL has not answered. */
  readonly rows: number | undefined;
}

/** Sees every statement that the dispatchers of this process send. */
export function watchClaims(): ClaimWatch {
  const query = vi.spyOn(pg.Pool.prototype, 'query');

  function sent(): Sent[] {
    return query.mock.contexts.flatMap((pool, index) => {
      if (!isDispatcherPool(pool)) return [];
      const text = String(query.mock.calls[index]?.[0]);
      const answer = query.mock.settledResults[index];
      return {
        text,
        isClaim: text.includes('free_lane'),
        isFinalize: text.includes('lane_is_ours'),
        rows: answer?.type === 'fulfilled' ? rowsOf(answer.value) : answer?.type === 'rejected' ? 0 : undefined,
      };
    });
  }
  const claims = (): Sent[] => sent().filter(({ isClaim }) => isClaim);

  return {
    get claims() {
      return claims().length;
    },
    claimsNaming: (table) => claims().filter(({ text }) => text.includes(table)).length,
    moreThan: (known) =>
      eventually(() => {
        if (claims().length <= known) throw new Error(`no claim after ${known}`);
      }),
    quiet: () =>
      eventually(() => {
        const all = sent();
        const found = claims().map(({ rows }) => rows);
        const fruitful = found.filter((rows) => rows !== 0).length;
        const finalized = all.filter(({ isFinalize }) => isFinalize).length;
        if (all.some(({ rows }) => rows === undefined) || found.at(-1) !== 0 || fruitful !== finalized)
          throw new Error(`${found.length} claims, ${fruitful} with deliveries, ${finalized} finalized`);
      }),
    stop: () => query.mockRestore(),
  };
}

function isDispatcherPool(pool: unknown): boolean {
  const options = (pool as { options?: { application_name?: string } }).options;
  return options?.application_name?.endsWith(':outbox') ?? false;
}

/** A claim that found nothing may answer a row without an id. */
function rowsOf(result: unknown): number {
  const rows = (result as { rows?: { id?: unknown }[] } | undefined)?.rows ?? [];
  return rows.filter(({ id }) => id !== null).length;
}
