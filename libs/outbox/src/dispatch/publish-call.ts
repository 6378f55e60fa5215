import { describeError } from '../errors/index.js';
import type { OutgoingEvent, PublishOutcome, Transport } from '../transports/index.js';

/** An outcome, and whether the transport classified it or just threw. */
export interface CallOutcome {
  readonly outcome: PublishOutcome;
  readonly isUnclassified: boolean;
}

/**
 * One call of a transport that always ends: after `timeoutMs` at the latest, or when `signal` aborts, even if the
 * transport ignores its own signal. Never rejects.
 */
export async function callTransport(
  transport: Transport,
  events: readonly OutgoingEvent[],
  timeoutMs: number,
  signal: AbortSignal,
): Promise<readonly CallOutcome[]> {
  const call = new AbortController();
  let settle: (problem: string) => void = () => undefined;
  const interrupted = new Promise<string>((resolve) => {
    settle = resolve;
  });
  const interrupt = (problem: string): void => {
    settle(problem);
    call.abort(new Error(problem));
  };
  const onAbort = (): void => interrupt(`interrupted, outcome unknown: ${describeReason(signal.reason)}`);
  const timer = setTimeout(() => interrupt(`no answer within ${timeoutMs} ms`), timeoutMs);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const answer = await Promise.race([publish(transport, events, call.signal), interrupted]);
    return typeof answer === 'string' ? sameForAll(events, { kind: 'retry', error: answer }, false) : answer;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

async function publish(
  transport: Transport,
  events: readonly OutgoingEvent[],
  signal: AbortSignal,
): Promise<readonly CallOutcome[]> {
  try {
    const outcomes = await transport.publish(events, signal);
    if (outcomes.length === events.length) return outcomes.map((outcome) => ({ outcome, isUnclassified: false }));
    const error = `the transport answered ${outcomes.length} outcomes for ${events.length} events`;
    return sameForAll(events, { kind: 'retry', error }, true);
  } catch (error) {
    return sameForAll(events, { kind: 'retry', error: describeError(error) }, true);
  }
}

function sameForAll(events: readonly OutgoingEvent[], outcome: PublishOutcome, isUnclassified: boolean): CallOutcome[] {
  return events.map(() => ({ outcome, isUnclassified }));
}

function describeReason(reason: unknown): string {
  return reason instanceof Error ? reason.message : 'aborted';
}
