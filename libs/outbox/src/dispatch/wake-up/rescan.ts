/** Long enough for a transaction that was about to commit, short enough that nobody notices. */
const RESCAN_MS = 5;

/**
 * Passes wake-ups on, and repeats the last one of each destination a few milliseconds later: it may have come before
 * the rows of a slower committer were visible. While wake-ups keep coming, each is itself a look, and nothing is
 * repeated until they pause.
 */
export class Rescan {
  private readonly timers: ReadonlyMap<string, NodeJS.Timeout>;
  private isStopped = false;

  constructor(
    destinations: Iterable<string>,
    private readonly look: (destination: string) => void,
  ) {
    // Made once and only restarted, because a wake-up comes with every event.
    this.timers = new Map([...destinations].map((name) => [name, setTimeout(() => look(name), RESCAN_MS)]));
  }

  /** @param destination all of them when undefined; one that is not known here is left alone. */
  wake(destination: string | undefined): void {
    if (this.isStopped) return;
    if (destination === undefined) {
      for (const name of this.timers.keys()) this.wake(name);
      return;
    }
    const timer = this.timers.get(destination);
    if (timer === undefined) return;
    this.look(destination);
    timer.refresh();
  }

  stop(): void {
    this.isStopped = true;
    for (const timer of this.timers.values()) clearTimeout(timer);
  }
}
