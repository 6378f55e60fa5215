/**
 * Undoes what was started, last things first, each once. Also what is added after it has run: an interrupted story may
 * still be starting something.
 */
export class Cleanup {
  private readonly steps: { readonly what: string; readonly undo: () => Promise<void> }[] = [];
  private hasRun = false;

  async add(what: string, undo: () => Promise<void>): Promise<void> {
    this.steps.push({ what, undo });
    if (this.hasRun) await this.run();
  }

  /** Goes on when a step fails, so that the others get their turn. @returns what could not be undone. */
  async run(): Promise<string[]> {
    this.hasRun = true;
    const failures: string[] = [];
    for (let step = this.steps.pop(); step !== undefined; step = this.steps.pop()) {
      try {
        await step.undo();
      } catch (error) {
        failures.push(`${step.what}: ${String(error)}`);
      }
    }
    return failures;
  }
}
