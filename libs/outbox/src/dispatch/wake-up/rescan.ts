/** Long enough for a transaction that was about to commit, short enough that nobody notices. */
const RESCAN_MS = 5;

/**
 * Passes wake-ups on, and repeats the last one of each destination a few milliseconds later. The first look may have
 * come before the rows of a slower committer were visible, or have skipped what another dispatcher held locked for a
 * moment, with a snapshot that is older than the event. While wake-ups keep coming, each is itself a look, and nothing
 * is repeated until they pause.
 */
export class Rescan {
  /** One for each destination that was ever woken: it is restarted, not made anew, because it comes with every event. */
  private readonly timers = new Map<string, NodeJS.Timeout>();
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
    for (const timer of this.timers.values()) clearTimeout(timer);
  }

  private wakeOne(destination: string): void {
    if (this.isStopped) return;
    this.look(destination);
    const timer = this.timers.get(destination);
    if (timer === undefined)
      this.timers.set(
        destination,
        setTimeout(() => this.look(destination), RESCAN_MS),
      );
    else timer.refresh();
  }
}
