import { describeError } from '../../errors/index.js';
import { systemRandom } from '../../runtime/index.js';
import { held, type PublishOutcome } from '../publish-outcome.js';
import type { Ending, ExchangeResult } from './exchange.js';
import type { ResolvedHttpOptions } from './http-transport-options.js';
import { classifyResponse } from './response-outcome.js';
import { TargetRefusedError } from './target.js';

type OutcomeOptions = Pick<ResolvedHttpOptions, 'classify' | 'maxRetryAfterMs' | 'unreachableDelayMs'>;

/**
 * What an exchange means for the event.
 *
 * @param origin Scheme, host and port: all of the URL that a text may show, because paths and queries carry tokens.
 */
export function exchangeOutcome(result: ExchangeResult, origin: string, options: OutcomeOptions): PublishOutcome {
  const { head, ending } = result;
  if (!result.wasSent) return unsentOutcome(ending, origin, options);
  if (head === undefined) {
    return { kind: 'retry', error: `${origin} may have received the event, but did not answer: ${describe(ending)}` };
  }
  const outcome = options.classify(head) ?? classifyResponse(head, origin, options.maxRetryAfterMs);
  // A refusal is one as soon as its status is there; a success counts only when the receiver finished saying it.
  if (outcome.kind === 'delivered' && ending.kind !== 'complete') {
    return { kind: 'retry', error: `${origin} answered ${head.status}, but not to its end: ${describe(ending)}` };
  }
  return outcome;
}

/** Nothing was sent, so that trying again costs the receiver nothing and the event no attempt. */
function unsentOutcome(ending: Ending, origin: string, options: OutcomeOptions): PublishOutcome {
  if (ending.kind === 'aborted') return held;
  if (ending.kind === 'failed' && ending.error instanceof TargetRefusedError) {
    return { kind: 'dead', error: `${origin}: ${ending.error.message}` };
  }
  const error = `${origin} cannot be reached: ${describe(ending)}`;
  const { unreachableDelayMs } = options;
  if (unreachableDelayMs === undefined) return { kind: 'unreachable', error };
  // One receiver of many is down: the others must go on, so only this event waits, and not in step with its like.
  return { kind: 'defer', reason: error, delayMs: Math.ceil(unreachableDelayMs * (1 - systemRandom() / 2)) };
}

function describe(ending: Ending): string {
  switch (ending.kind) {
    case 'timeout':
      return 'the time was over.';
    case 'aborted':
      return 'the exchange was called off.';
    case 'too-long':
      return 'the body is longer than maxResponseBytes.';
    case 'failed':
      return describeError(ending.error);
    case 'complete':
      return 'the response was complete.';
  }
}
