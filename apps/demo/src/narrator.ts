import { styleText } from 'node:util';

const INDENT = '   ';

/** Tells the story on standard output, as it happens. */
export class Narrator {
  private chapters = 0;

  title(text: string): void {
    this.line(emphasize(text));
  }

  chapter(text: string): void {
    this.chapters += 1;
    this.line('');
    this.line(emphasize(`${this.chapters}. ${text}`));
  }

  say(text: string): void {
    this.line(`${INDENT}${text}`);
  }

  /** Columns as wide as their widest cell; numbers to the right. */
  table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
    const widths = head.map((title, column) =>
      Math.max(title.length, ...rows.map((row) => String(row[column] ?? '').length)),
    );
    const line = (cells: readonly (string | number)[]): string =>
      cells
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          return typeof cell === 'number' ? String(cell).padStart(width) : cell.padEnd(width);
        })
        .join('  ')
        .trimEnd();
    this.line('');
    this.say(line(head));
    this.say(widths.map((width) => '-'.repeat(width)).join('  '));
    for (const row of rows) this.say(line(row));
    this.line('');
  }

  line(text: string): void {
    process.stdout.write(`${text}\n`);
  }
}

function emphasize(text: string): string {
  return process.stdout.isTTY ? styleText('bold', text) : text;
}
