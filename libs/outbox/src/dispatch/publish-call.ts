import { describeError } from '../errors/index.js';
import { held, type OutgoingEvent, type PublishOutcome, type Transport } from '../transports/index.js';
import { LeaseLost } from './lease-keeper.js';

/** An outcome, and whether the transport classified it or just threw. */
export interface CallOutcome {
  readonly outcome: PublishOutcome;
  readonly isUnclassified: boolean;
}

/** How long a transport may take to say what became of the events of an interrupted call. */
const ANSWER_AFTER_ABORT_MS = 100;

/**
 * One call of a transport that always ends: soon after `timeoutMs`, or after `signal` aborts, even if the transport
 * ignores its own signal. That one aborts with a TimeoutError, or with another reason when the call was interrupted.
 * Never rejects.
 */
export async function callTransport(
  transport: Transport,
  events: readonly OutgoingEvent[],
  timeoutMs: number,
  signal: AbortSignal,
): Promise<readonly CallOutcome[]> {
  const call = new AbortController();
  let giveUp: (problem: string) => void = () => undefined;
  const givenUp = new Promise<string>((resolve) => {
    giveUp = resolve;
  });
  let lastWait: NodeJS.Timeout | undefined;
  const interrupt = (reason: Error): void => {
    call.abort(reason);
    // A transport that listens knows more about what it had sent by now than we do.
    lastWait ??= setTimeout(() => giveUp(reason.message), ANSWER_AFTER_ABORT_MS);
  };
  // Made only when it is needed: an exception takes a stack trace with it.
  const timer = setTimeout(
    () => interrupt(new DOMException(`no answer within ${timeoutMs} ms`, 'TimeoutError')),
    timeoutMs,
  );
  const onAbort = (): void => interrupt(new Error(`interrupted, outcome unknown: ${describeReason(signal.reason)}`));
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const answer = await Promise.race([publish(transport, events, call.signal), givenUp]);
    const answers = typeof answer === 'string' ? sameForAll(events, { kind: 'retry', error: answer }, false) : answer;
    return signal.aborted && !(signal.reason instanceof LeaseLost) ? answers.map(withoutAttempt) : answers;
  } finally {
    clearTimeout(timer);
    clearTimeout(lastWait);
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
    if (outcomes.length === events.length) return outcomes.map(checked);
    const error = `the transport answered ${outcomes.length} outcomes for ${events.length} events`;
    return sameForAll(events, { kind: 'retry', error }, true);
  } catch (error) {
    // An interrupted call may well reject; that says nothing about the event, and nothing new about the transport.
    if (signal.aborted) return sameForAll(events, { kind: 'retry', error: describeReason(signal.reason) }, false);
    return sameForAll(events, { kind: 'retry', error: describeError(error) }, true);
  }
}

/** That this process ends is no failure of the event. (After a lost lease the attempt counts: it may have cost the lease.) */
function withoutAttempt(answer: CallOutcome): CallOutcome {
  return answer.outcome.kind === 'retry' ? { outcome: held, isUnclassified: answer.isUnclassified } : answer;
}

/** A transport may be written in JavaScript: what is no outcome must not spoil the batch. */
function checked(outcome: PublishOutcome): CallOutcome {
  if (isOutcome(outcome)) return { outcome, isUnclassified: false };
  return {
    outcome: { kind: 'retry', error: 'the transport answered no outcome for this event' },
    isUnclassified: true,
  };
}

function isOutcome(outcome: Partial<Record<'kind' | 'error' | 'reason', unknown>> | null | undefined): boolean {
  switch (outcome?.kind) {
    case 'delivered':
    case 'held':
      return true;
    case 'defer':
      return typeof outcome.reason === 'string';
    case 'retry':
    case 'dead':
    case 'unreachable':
      return typeof outcome.error === 'string';
    default:
      return false;
  }
}

function sameForAll(events: readonly OutgoingEvent[], outcome: PublishOutcome, isUnclassified: boolean): CallOutcome[] {
  return events.map(() => ({ outcome, isUnclassified }));
}

function describeReason(reason: unknown): string {
  return reason instanceof Error ? reason.message : 'aborted';
}
