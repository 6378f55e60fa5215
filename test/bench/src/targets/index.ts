import { rawLoop } from './p1-raw-loop.js';
import { peers } from './p2-peers.js';
import { flat } from './p3-flat.js';
import { ordered } from './p7-ordered.js';
import { redisStream } from './p8-redis-stream.js';
import { staleStatistics } from './p9-stale-statistics.js';
import { hotUpdates } from './p10-hot-updates.js';
import { http } from './p12-http.js';
import { scaleOut } from './scale-out.js';
import { sizing } from './sizing.js';
import type { Target } from './target.js';

export const targets: readonly Target[] = [
  rawLoop,
  peers,
  flat,
  ordered,
  redisStream,
  staleStatistics,
  hotUpdates,
  http,
  scaleOut,
  sizing,
];
