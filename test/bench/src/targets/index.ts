import { rawLoop } from './p1-raw-loop.js';
import { peers } from './p2-peers.js';
import { flat } from './p3-flat.js';
import { latency } from './p4-latency.js';
import { emit } from './p5-emit.js';
import { wakeUpThroughput } from './p6-wake-up-throughput.js';
import { ordered } from './p7-ordered.js';
import { redisStream } from './p8-redis-stream.js';
import { staleStatistics } from './p9-stale-statistics.js';
import { hotUpdates } from './p10-hot-updates.js';
import { inbox } from './p11-inbox.js';
import { http } from './p12-http.js';
import { memory } from './p13-memory.js';
import { retention } from './p16-retention.js';
import { scaleOut } from './scale-out.js';
import { sizing } from './sizing.js';
import type { Target } from './target.js';

export const targets: readonly Target[] = [
  rawLoop,
  peers,
  flat,
  latency,
  emit,
  wakeUpThroughput,
  ordered,
  redisStream,
  staleStatistics,
  hotUpdates,
  inbox,
  http,
  memory,
  scaleOut,
  sizing,
  retention,
];
