/** One column: its title, and its text of each row. */
export type Column<Row> = readonly [title: string, cell: (row: Row) => string | number | undefined];

const WIDEST = 60;
const CONTROL = /\p{Cc}+/gu;

/** Columns as wide as what is in them; a long text is cut, and control characters, which a terminal would obey, are blanks. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const cells = rows.map((row) => columns.map(([, cell]) => plain(cell(row))));
  const lines = [columns.map(([title]) => title), ...cells];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => (line[index] ?? '').length)));
  return lines
    .map((line) =>
      line
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Names and values below each other, the names as wide as the widest. */
export function facts(entries: readonly (readonly [name: string, value: string | number | undefined])[]): string {
  const shown = entries.filter(([, value]) => value !== undefined);
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${visible(String(value))}`).join('\n');
}

/** Text of others, fit for a terminal. */
export function visible(text: string): string {
  return text.replaceAll(CONTROL, ' ');
}

function plain(value: string | number | undefined): string {
  const text = visible(String(value ?? ''));
  return text.length > WIDEST ? `${text.slice(0, WIDEST - 1)}…` : text;
}
