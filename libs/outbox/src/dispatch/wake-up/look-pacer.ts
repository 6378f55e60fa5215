import { gapMs } from './gap.js';

/** Wake-ups of one destination since its last look. */
interface Waiting {
  readonly timer: NodeJS.Timeout;
  wakeUps: number;
}

/**
 * Turns wake-ups into looks: the first of a quiet period at once, then one for all that come close together, and one
 * more a few milliseconds after the last. The first look may have come before the rows of a slower committer were
 * visible, or have skipped what another dispatcher held locked for a moment, with a snapshot that is older than the event.
 */
export class LookPacer {
  private readonly waiting = new Map<string, Waiting>();
  private isStopped = false;

  constructor(
    private readonly destinations: ReadonlySet<string>,
    private readonly look: (destination: string) => void,
  ) {}

  /** @param destination all of them when undefined; one that is not known here is left alone. */
  wake(destination: string | undefined): void {
    if (destination === undefined) for (const each of this.destinations) this.wakeOne(each);
    else if (this.destinations.has(destination)) this.wakeOne(destination);
  }

  stop(): void {
    this.isStopped = true;
    for (const { timer } of this.waiting.values()) clearTimeout(timer);
  }

  private wakeOne(destination: string): void {
    if (this.isStopped) return;
    const waiting = this.waiting.get(destination);
    if (waiting === undefined) this.lookFor(destination, 1);
    else waiting.wakeUps += 1;
  }

  private lookFor(destination: string, wakeUps: number): void {
    const timer = setTimeout(() => this.lookAgain(destination), gapMs(wakeUps));
    this.waiting.set(destination, { timer, wakeUps: 0 });
    this.look(destination);
  }

  private lookAgain(destination: string): void {
    const wakeUps = this.waiting.get(destination)?.wakeUps ?? 0;
    this.waiting.delete(destination);
    if (wakeUps > 0) this.lookFor(destination, wakeUps);
    else this.look(destination);
  }
}
