import { wallClockMs } from '../../../runtime/index.js';
import type { Examined, ExaminedInbox, ExaminedOutbox } from '../examined.js';
import { type Check, ok, problem, type Verdict, warning } from '../finding.js';
import { durationInWords as words } from '../in-words.js';
import { longestRedeliveryMs } from '../longest-redelivery.js';

/** An event that comes again after its record is gone is applied twice. */
export const dedupeWindowCheck: Check = {
  name: 'dedupe window',
  isAtStart: false,
  async look({ database, outbox, inbox }) {
    const deadMs = outbox && (await database.ages(outbox.names)).oldestDeadMs;
    if (inbox !== undefined) return inboxVerdict(inbox, outbox, deadMs);
    return outbox && outboxVerdict(outbox, deadMs);
  },
};

async function inboxVerdict(
  inbox: ExaminedInbox,
  outbox: Examined['outbox'],
  deadMs: number | undefined,
): Promise<Verdict> {
  const { dedupeWindowMs } = inbox;
  const sentMs = Math.max(0, ...destinationsOf(outbox).map(longestRedeliveryMs));
  const promisedMs = Math.max(inbox.longestRedeliveryMs, sentMs);
  if (promisedMs >= dedupeWindowMs) {
    return problem(
      `an event may come again after ${words(promisedMs)}, and is recognised for ${words(dedupeWindowMs)}`,
      'Raise "dedupeWindowMs" of the inbox.',
    );
  }
  const parkedMs = await oldestParkedMs(inbox);
  const oldestMs = Math.max(deadMs ?? 0, parkedMs ?? 0);
  if (oldestMs >= dedupeWindowMs) {
    return problem(
      `a failed event has waited for ${words(oldestMs)}, and is recognised for ${words(dedupeWindowMs)}: redriven now it may be applied twice`,
      'Make sure that it was not applied before you redrive it, or discard it; then raise "dedupeWindowMs" of the inbox.',
    );
  }
  return ok(`events are recognised for ${words(dedupeWindowMs)}; the longest redelivery is ${words(promisedMs)}`);
}

/** The consumers are elsewhere: nothing but what they must bear is known. */
function outboxVerdict(outbox: ExaminedOutbox, deadMs: number | undefined): Verdict | undefined {
  if (outbox.options === undefined) return undefined;
  const sentMs = Math.max(0, ...destinationsOf(outbox).map(longestRedeliveryMs));
  if (deadMs !== undefined && deadMs > sentMs) {
    return warning(
      `a dead letter has waited for ${words(deadMs)}; consumers must recognise events for longer than that, or redriven it may be applied twice`,
      'Redrive or discard old dead letters, and set "dedupeWindowMs" of the consumers accordingly.',
    );
  }
  return ok(`the longest redelivery is ${words(sentMs)}: "dedupeWindowMs" of every consumer must be longer`);
}

function destinationsOf(outbox: Examined['outbox']): Parameters<typeof longestRedeliveryMs>[0][] {
  return [...(outbox?.options?.destinations.values() ?? [])];
}

async function oldestParkedMs({ failed }: ExaminedInbox): Promise<number | undefined> {
  const [oldest] = await failed.list({}, 1);
  return oldest && wallClockMs() - oldest.parkedAt.getTime();
}
