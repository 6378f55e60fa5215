import type { RawMessage } from '../../store/index.js';
import type { MessageSource } from './message-source.js';

/** What the contexts of this library's own servers have in common; a custom server may bring the same. */
export interface SettlingContext {
  getMessage(): RawMessage;
  accept(): Promise<void>;
  deliverAgain(delayMs: number): Promise<void>;
}

/** Messages of servers whose contexts can settle them: Redis Streams, JetStream, SQS, and custom ones. */
export const settlingSource: MessageSource = {
  name: 'servers whose context has accept() and deliverAgain()',
  redelivers: true,
  isSourceOf: (context) => 'accept' in context && 'deliverAgain' in context && 'getMessage' in context,
  raw: (context) => (context as SettlingContext).getMessage(),
  accept: (context) => (context as SettlingContext).accept(),
  deliverAgain: (context, delayMs) => (context as SettlingContext).deliverAgain(delayMs),
};
