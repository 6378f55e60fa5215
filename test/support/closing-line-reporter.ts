import type { TestModule, Vitest } from 'vitest/node';
import type { Reporter } from 'vitest/reporters';

interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * Prints `N passed, N failed` (and `, N skipped`) as the very last line of the run: when the process exits, after
 * everything that other reporters and the tear-down have to say. The line and the exit code never contradict: what
 * failed outside a test counts as failed, and a run without a single executed test is no success.
 */
export default class ClosingLineReporter implements Reporter {
  private tally: Tally = { passed: 0, failed: 0, skipped: 0 };

  onInit(_vitest: Vitest): void {
    process.once('exit', (code) => this.close(code));
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    this.tally = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) this.count(module);
  }

  private count(module: TestModule): void {
    if (module.errors().length > 0) this.tally.failed += 1;
    for (const suite of module.children.allSuites()) if (suite.errors().length > 0) this.tally.failed += 1;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed' || state === 'failed') this.tally[state] += 1;
      else this.tally.skipped += 1;
    }
  }

  private close(exitCode: number): void {
    const { tally } = this;
    if (exitCode !== 0 && tally.failed === 0) tally.failed = 1;
    if (tally.failed > 0 || tally.passed === 0) process.exitCode = exitCode || 1;
    const skipped = tally.skipped === 0 ? '' : `, ${tally.skipped} skipped`;
    process.stdout.write(`${tally.passed} passed, ${tally.failed} failed${skipped}\n`);
  }
}
