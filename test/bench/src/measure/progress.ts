/** Says on standard error what is going on, so that standard output stays the result. */
export class Progress {
  constructor(private readonly startedAt = performance.now()) {}

  step(text: string): void {
    this.write(text);
  }

  sample(side: string, round: number, repeats: number, value: number, unit: string): void {
    this.write(`  ${round === 0 ? 'warm-up' : `${round}/${repeats}`} ${side}: ${readable(value)} ${unit}`);
  }

  private write(text: string): void {
    process.stderr.write(`${String(Math.round((performance.now() - this.startedAt) / 1000)).padStart(5)} s ${text}\n`);
  }
}

/** Three significant digits, or whole numbers with separators from a thousand on. */
export function readable(value: number): string {
  return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
}
