import { BaseRpcContext } from '@nestjs/microservices';

/** A message as a broker brought it. */
export interface ConsumedMessage {
  /** Where it came from, for people. */
  readonly source: string;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What a broker is told of a message; one of the two, once. */
export interface Settlement {
  accept(): Promise<void>;
  /** Somebody has to see it once more, after `delayMs` or later. */
  deliverAgain(delayMs: number): Promise<void>;
}

/**
 * What a handler gets by `@Ctx()` from the servers of this library. Whoever decides about the message first decides:
 * InboxGuard's interceptor after the commit, or else the server, when the handler has ended.
 */
export class MessageContext extends BaseRpcContext<[ConsumedMessage]> {
  #isSettled = false;

  constructor(
    message: ConsumedMessage,
    private readonly settlement: Settlement,
  ) {
    super([message]);
  }

  /** The message as it came. */
  getMessage(): ConsumedMessage {
    return this.getArgByIndex(0);
  }

  /** Whether the broker has been told already. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  async accept(): Promise<void> {
    if (this.#isSettled) return;
    this.#isSettled = true;
    await this.settlement.accept();
  }

  async deliverAgain(delayMs: number): Promise<void> {
    if (this.#isSettled) return;
    this.#isSettled = true;
    await this.settlement.deliverAgain(delayMs);
  }
}
