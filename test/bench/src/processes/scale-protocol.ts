import type { Serializable } from 'node:child_process';

/** What the parent tells a dispatcher process. */
export type ScaleCommand = { readonly command: 'drain' } | { readonly command: 'stop' };

/** What a dispatcher process tells its parent. */
export type ScaleReport =
  | { readonly report: 'ready' }
  | { readonly report: 'stopped' }
  /** Events published per destination since the last report. */
  | { readonly report: 'published'; readonly at: number; readonly counts: Readonly<Record<string, number>> }
  /** Events that this process holds a lease of and will never answer for. */
  | { readonly report: 'holding'; readonly eventIds: readonly string[] };

export interface ScaleSettings {
  readonly databaseUrl: string;
  readonly instanceName: string;
  /** `driven`: drains when told to. `loop`: runs by itself, as in production. `hanging`: takes a batch, never answers. */
  readonly mode: 'driven' | 'loop' | 'hanging';
  readonly leaseMs?: number;
  readonly pollIntervalMs?: number;
}

export function tell(message: ScaleReport & Serializable): void {
  process.send?.(message);
}
