import { setTimeout as wait } from 'node:timers/promises';
import { type OutboxService } from 'nestjs-transactional-outbox';
import { type DataSource } from 'typeorm';
import { BenchNoted, BenchStepped, FILLER } from '../sides/bench-events.js';
import { ORDERS, SoakOrderEntity } from './soak-app.js';

const TICK_MS = 5;
/** So many at once are far more than connections; with more, a machine that is too slow would be found out by its heap. */
const MOST_RUNNING = 100;

/**
 * Business transactions at a constant rate: each changes an order through its entity and emits one event, in turn
 * ordered and unordered ones. One that is due starts whether or not the ones before have ended, up to a limit; what
 * could not start then is made up for.
 */
export class ConstantLoad {
  emitted = 0;
  private started = 0;
  private readonly running = new Set<Promise<void>>();
  private failure: unknown;

  constructor(
    private readonly dataSource: DataSource,
    private readonly outbox: OutboxService,
    private readonly eventsPerSecond: number,
    private readonly onCommitted: (eventId: string) => void,
  ) {}

  /**
   * Resolves when told to stop and every transaction has ended.
   *
   * @throws whatever a transaction failed with.
   */
  async run(signal: AbortSignal): Promise<void> {
    const startedAt = performance.now();
    while (!signal.aborted && this.failure === undefined) {
      const due = Math.floor(((performance.now() - startedAt) / 1000) * this.eventsPerSecond);
      while (this.started < due && this.running.size < MOST_RUNNING) this.start();
      await wait(TICK_MS);
    }
    await Promise.all(this.running);
    if (this.failure !== undefined) throw this.failure;
  }

  private start(): void {
    this.started += 1;
    const transaction: Promise<void> = this.changeAndEmit(this.started)
      .catch((error: unknown) => {
        this.failure ??= error;
      })
      .finally(() => this.running.delete(transaction));
    this.running.add(transaction);
  }

  private async changeAndEmit(number: number): Promise<void> {
    const id = 1 + (number % ORDERS);
    const event = number % 4 < 2 ? new BenchStepped() : new BenchNoted();
    const [eventId = ''] = await this.dataSource.transaction(async (manager) => {
      await manager.save(SoakOrderEntity, { id, amountCents: number });
      return this.outbox.emit(manager, Object.assign(event, { benchId: String(id), number, filler: FILLER }));
    });
    this.emitted += 1;
    this.onCommitted(eventId);
  }
}
