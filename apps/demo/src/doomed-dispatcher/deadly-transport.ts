import type { OutgoingEvent, PublishOutcome, Transport } from 'nestjs-transactional-outbox';

/**
 * Lets a number of events through and kills its own process when the last of them is acknowledged. Until then it keeps
 * the acknowledgements back, so that none of these events was marked: the window between publish and finalize.
 */
export class DeadlyTransport implements Transport {
  /** One event at a time, also where the transport takes many at once: so many are let through, and no more. */
  readonly capabilities: Transport['capabilities'];
  readonly attach: Transport['attach'] = (host) => this.transport.attach?.(host);
  private begun = 0;
  private acknowledged = 0;

  constructor(
    private readonly transport: Transport,
    private readonly diesAfter: number,
  ) {
    this.capabilities = { ...transport.capabilities, batch: false, keepsOrderPerKey: false };
  }

  async connect(): Promise<void> {
    await this.transport.connect?.();
  }

  async publish(batch: readonly OutgoingEvent[], signal: AbortSignal): Promise<readonly PublishOutcome[]> {
    this.begun += 1;
    if (this.begun > this.diesAfter) return untilDeath();
    const [outcome] = await this.transport.publish(batch, signal);
    if (outcome?.kind !== 'delivered') {
      throw new Error(`the receiver should have taken the event: ${JSON.stringify(outcome)}`);
    }
    this.acknowledged += 1;
    if (this.acknowledged === this.diesAfter) process.kill(process.pid, 'SIGKILL');
    return untilDeath();
  }
}

function untilDeath(): Promise<never> {
  return new Promise(() => undefined);
}
