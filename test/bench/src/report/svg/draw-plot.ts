import type { Plot } from '../../targets/target.js';
import { drawBars } from './bars.js';
import { drawLines } from './lines.js';

/** A plot as the text of one SVG file: no script, no style sheet, nothing to load. */
export function drawPlot(plot: Plot): string {
  return plot.kind === 'bars' ? drawBars(plot) : drawLines(plot);
}
