import type { Bound, Figure } from '../measure/comparison.js';
import { readable } from '../measure/progress.js';
import type { Table, Target, TargetResult } from '../targets/target.js';

/** A target's result for people, a line for each comparison. */
export function toText({ id, title }: Target, { comparisons, tables = [], notes = [] }: TargetResult): string {
  const lines = comparisons.map(
    ({ name, ours, against, ratio, bound, isMet }) =>
      `  ${name}: ${spread(ours)} against ${spread(against)} = ${ratio.toFixed(2)}${verdict(bound, isMet)}`,
  );
  return [`${id} ${title}`, ...lines, ...tables.map(tableText), ...notes.map((note) => `  ${note}`)].join('\n');
}

export function spread({ side, unit, median, min, max }: Figure): string {
  return `${side} ${readable(median)} ${unit} (${readable(min)} to ${readable(max)})`;
}

export function boundText(bound: Bound): string {
  return 'atLeast' in bound ? `at least ${bound.atLeast}` : `at most ${bound.atMost}`;
}

function verdict(bound: Bound | undefined, isMet: boolean): string {
  return bound === undefined ? '' : `, ${boundText(bound)}: ${isMet ? 'met' : 'NOT MET'}`;
}

function tableText({ title, columns, rows }: Table): string {
  const cells = [columns, ...rows.map((row) => row.map(cellText))];
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) => `    ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`);
  return [`  ${title}`, ...lines.map((line) => line.trimEnd())].join('\n');
}

export function cellText(cell: string | number): string {
  return typeof cell === 'number' ? readable(cell) : cell;
}
