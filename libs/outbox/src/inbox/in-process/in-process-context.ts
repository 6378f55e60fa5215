import type { ReceivedEvent } from '../../event/index.js';
import type { MessageSource } from '../broker/message-source.js';

/** What a handler gets by `@Ctx()` when an event is delivered in its own process. */
export class InProcessContext {
  /** What the inbox said of the event; undefined until it is committed. */
  outcome: 'processed' | 'duplicate' | undefined;

  constructor(readonly event: ReceivedEvent) {}
}

/** Events of the outbox of the same application. Whoever calls hears of a failure, so that nothing is parked here. */
export const inProcessSource: MessageSource = {
  name: 'the outbox of the same application',
  redelivers: true,
  isSourceOf: (context) => context instanceof InProcessContext,
  event: (context) => (context as InProcessContext).event,
  raw: (context) => ({
    source: 'the outbox of the same application',
    contentType: 'application/json',
    headers: {},
    body: Buffer.from(JSON.stringify((context as InProcessContext).event.payload ?? null)),
  }),
  settled(context, outcome) {
    (context as InProcessContext).outcome = outcome;
  },
};
