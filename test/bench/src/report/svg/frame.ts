import type { Plot } from '../../targets/target.js';
import {
  colourOf,
  dashOf,
  element,
  escapeXml,
  FAINT,
  FONT_SIZE,
  line,
  PAPER,
  text,
  widthOf,
  wrap,
} from './elements.js';
import type { Scale } from './scale.js';

export const WIDTH = 760;
const EDGE = 20;
const TITLE_SIZE = 16;

/** The rectangle that values are drawn into. */
export interface Area {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** What stands above the values: the title, which series is which, and what the upright axis counts. */
export interface Head {
  readonly content: string;
  /** First pixel below it. */
  readonly bottom: number;
}

export function drawHead(plot: Plot, upright: string): Head {
  const titleLines = wrap(plot.title, WIDTH - 2 * EDGE, TITLE_SIZE);
  const parts = titleLines.map((words, index) =>
    text(words, EDGE, EDGE + 12 + index * 21, { size: TITLE_SIZE, bold: true }),
  );
  let y = EDGE + 12 + (titleLines.length - 1) * 21;
  if (plot.series.length > 1) {
    const legend = drawLegend(plot, y + 24);
    parts.push(legend.content);
    y = legend.bottom;
  }
  parts.push(text(upright, EDGE, y + 26, { fill: FAINT, size: 12 }));
  return { content: parts.join(''), bottom: y + 40 };
}

/** The whole picture, on a ground of its own so that it can be read on a dark page as well. */
export function drawPaper(plot: Plot, height: number, content: string): string {
  const paper = element('rect', { width: WIDTH, height, rx: 8, fill: PAPER });
  const label = element('title', {}, escapeXml(plot.title));
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    viewBox: `0 0 ${WIDTH} ${height}`,
    width: WIDTH,
    height,
    role: 'img',
    'font-family': 'system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif',
  };
  return `${element('svg', attributes, `${label}${paper}${content}`)}\n`;
}

/** Lines across the area at each tick of an upright axis, with its label to the left. */
export function drawUprightAxis({ ticks }: Scale, area: Area): string {
  return ticks
    .map(
      ({ at, label }) =>
        line(area.left, at, area.right, at) + text(label, area.left - 8, at + 4, { anchor: 'end', size: 12 }),
    )
    .join('');
}

/** Labels below the area; one that would touch its neighbour is left out. */
export function drawLevelAxis({ ticks }: Scale, area: Area, title: string): string {
  const parts: string[] = [line(area.left, area.bottom, area.right, area.bottom, FAINT)];
  let free = Number.NEGATIVE_INFINITY;
  for (const { at, label } of ticks) {
    parts.push(line(at, area.bottom, at, area.bottom + 4, FAINT));
    const half = widthOf(label, 12) / 2;
    if (at - half < free) continue;
    parts.push(text(label, at, area.bottom + 19, { anchor: 'middle', size: 12 }));
    free = at + half + 8;
  }
  parts.push(drawLevelTitle(title, area, area.bottom + 40));
  return parts.join('');
}

export function drawLevelTitle(title: string, area: Area, y: number): string {
  return text(title, (area.left + area.right) / 2, y, { anchor: 'middle', fill: FAINT, size: 12 });
}

/** Room for the longest label of an upright axis. */
export function leftOf(labels: readonly string[]): number {
  return EDGE + Math.max(24, ...labels.map((label) => widthOf(label, 12))) + 8;
}

export const RIGHT = WIDTH - EDGE - 10;

function drawLegend({ series, kind }: Plot, firstLine: number): Head {
  const parts: string[] = [];
  let x = EDGE;
  let y = firstLine;
  for (const [index, { name }] of series.entries()) {
    const width = 30 + widthOf(name) + 14;
    if (x > EDGE && x + width > WIDTH - EDGE) {
      x = EDGE;
      y += 20;
    }
    const stroke = { stroke: colourOf(index), 'stroke-width': 3, 'stroke-dasharray': dashOf(index) };
    parts.push(
      kind === 'bars'
        ? element('rect', { x, y: y - 11, width: 12, height: 12, rx: 2, fill: colourOf(index) })
        : element('line', { x1: x, y1: y - 4, x2: x + 22, y2: y - 4, ...stroke }),
      text(name, x + (kind === 'bars' ? 18 : 28), y, { size: FONT_SIZE }),
    );
    x += width;
  }
  return { content: parts.join(''), bottom: y };
}
