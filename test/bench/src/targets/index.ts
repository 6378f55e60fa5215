import { rawLoop } from './p1-raw-loop.js';
import { ordered } from './p7-ordered.js';
import { redisStream } from './p8-redis-stream.js';
import { scaleOut } from './scale-out.js';
import type { Target } from './target.js';

export const targets: readonly Target[] = [rawLoop, ordered, redisStream, scaleOut];
