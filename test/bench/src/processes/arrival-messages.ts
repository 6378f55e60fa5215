import type { Moments } from '../measure/latencies.js';

/** How the process that watches arrivals was told to watch. */
export type WatchMode = 'dispatcher' | 'listener';

/** From the parent: hand over what has arrived. */
export const COLLECT = 'collect';

/** To the parent. */
export type ArrivalMessage = { readonly kind: 'ready' } | { readonly kind: 'arrived'; readonly moments: Moments };
