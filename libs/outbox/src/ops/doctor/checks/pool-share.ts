import type { ResolvedDispatcher } from '../../../config/index.js';
import { type Check, ok, problem, warning } from '../finding.js';

const MUCH = 0.8;

/** A process that gets no connection neither emits nor dispatches. */
export const poolShareCheck: Check = {
  name: 'connections',
  isAtStart: true,
  async look({ database, outbox, applicationPoolSize }) {
    const { allowed, used, listening } = await database.connections();
    const dispatching = outbox?.options === undefined ? 0 : connectionsOf(outbox.options.dispatcher);
    const processes = Math.max(1, listening);
    const each = applicationPoolSize + dispatching;
    const mine = processes * each;
    const sum = `${processes} ${processes === 1 ? 'process' : 'processes'} × (${applicationPoolSize} of the application + ${dispatching} of the dispatcher) = ${mine} of ${allowed} connections; ${used} are used now`;
    const advice = 'Lower the pool size or "dispatcher.poolSize", raise "max_connections", or put a pooler in between.';
    if (mine > allowed) return problem(`more than there are: ${sum}`, advice);
    if (Math.max(mine, used) > MUCH * allowed) return warning(`most of what there is: ${sum}`, advice);
    return ok(sum);
  },
};

/** Its own pool, and one to listen. */
function connectionsOf({ enabled, poolSize, wakeUp, schedule }: ResolvedDispatcher): number {
  if (!enabled) return 0;
  return poolSize + (wakeUp && schedule === 'loop' ? 1 : 0);
}
