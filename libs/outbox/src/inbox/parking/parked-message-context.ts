import type { RawMessage } from '../../store/index.js';
import type { MessageSource } from '../broker/message-source.js';

/** What a handler gets by `@Ctx()` when a parked message is redriven. */
export class ParkedMessageContext {
  constructor(readonly message: RawMessage) {}
}

/** Parked messages, redriven: one that fails again is parked again, and nobody waits for an acknowledgement. */
export const parkedSource: MessageSource = {
  name: 'parked messages',
  redelivers: false,
  isSourceOf: (context) => context instanceof ParkedMessageContext,
  raw: (context) => (context as ParkedMessageContext).message,
};
