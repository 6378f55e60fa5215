import { readable } from '../../measure/progress.js';
import type { Plot } from '../../targets/target.js';
import { colourOf, element, FAINT, line, text, widthOf, wrap } from './elements.js';
import {
  type Area,
  drawHead,
  drawLevelAxis,
  drawLevelTitle,
  drawPaper,
  drawUprightAxis,
  leftOf,
  RIGHT,
} from './frame.js';
import { uprightScale } from './lines.js';
import { bandScale, type Scale } from './scale.js';

const AREA_HEIGHT = 260;
const MOST_LABEL_LINES = 2;
const MOST_LABEL_WIDTH = 230;
const BAR = 17;

/** A group of bars for each name: upright when the names fit below, lying when they need more room. */
export function drawBars(plot: Plot): string {
  const names = [...new Set(plot.series.flatMap(({ points }) => points.map(([x]) => String(x))))];
  const band = (RIGHT - 70) / names.length;
  const fits = names.every((name) => {
    const lines = wrap(name, band - 10, 12);
    return lines.length <= MOST_LABEL_LINES && lines.every((words) => widthOf(words, 12) <= band - 10);
  });
  return fits ? drawUprightBars(plot, names) : drawLyingBars(plot, names);
}

function drawUprightBars(plot: Plot, names: readonly string[]): string {
  const head = drawHead(plot, plot.yLabel);
  const bottom = head.bottom + AREA_HEIGHT;
  const y = uprightScale(plot, [bottom, head.bottom + 10]);
  const area: Area = { left: leftOf(y.ticks.map(({ label }) => label)), right: RIGHT, top: head.bottom, bottom };
  const x = bandScale(names, [area.left, area.right]);
  const width = Math.min(64, (x.band * 0.76) / plot.series.length);
  const isNumbered = barsOf(plot, names).every(({ value }) => widthOf(readable(value), 11) <= width + 6);
  const bars = barsOf(plot, names).map(({ value, group, series }) => {
    const left = x.at(group) + (series - plot.series.length / 2) * width;
    const top = y.at(value);
    const bar = { x: left, y: top, width: width - 2, height: Math.max(bottom - top, 1), rx: 2, fill: colourOf(series) };
    const number = text(readable(value), left + width / 2 - 1, top - 5, { anchor: 'middle', size: 11 });
    return element('rect', bar) + (isNumbered ? number : '');
  });
  const labels = names.map((name, group) =>
    wrap(name, x.band - 10, 12)
      .map((words, index) => text(words, x.at(group), bottom + 19 + index * 15, { anchor: 'middle', size: 12 }))
      .join(''),
  );
  const ground = line(area.left, bottom, area.right, bottom, FAINT);
  const title = drawLevelTitle(plot.xLabel, area, bottom + 56);
  return drawPaper(
    plot,
    bottom + 74,
    [head.content, drawUprightAxis(y, area), ...bars, ground, ...labels, title].join(''),
  );
}

function drawLyingBars(plot: Plot, names: readonly string[]): string {
  const head = drawHead(plot, plot.xLabel);
  const wrapped = names.map((name) => wrap(name, MOST_LABEL_WIDTH, 12));
  const band = Math.max(plot.series.length * BAR, Math.max(...wrapped.map((lines) => lines.length)) * 15) + 12;
  const bottom = head.bottom + names.length * band;
  const area: Area = { left: leftOf(wrapped.flat()), right: RIGHT, top: head.bottom, bottom };
  const x = uprightScale(plot, [area.left, area.right - 60]);
  const bars = barsOf(plot, names).map(({ value, group, series }) => {
    const middle = head.bottom + band * (group + 0.5);
    const top = middle + (series - plot.series.length / 2) * BAR;
    const bar = { x: area.left, y: top + 1, width: Math.max(x.at(value) - area.left, 1), height: BAR - 2, rx: 2 };
    const number = text(readable(value), x.at(value) + 6, top + BAR - 5, { size: 11 });
    return element('rect', { ...bar, fill: colourOf(series) }) + number;
  });
  const labels = wrapped.map((lines, group) => {
    const first = head.bottom + band * (group + 0.5) + 4 - (lines.length - 1) * 7.5;
    return lines
      .map((words, index) => text(words, area.left - 8, first + index * 15, { anchor: 'end', size: 12 }))
      .join('');
  });
  const content = [head.content, drawGrid(x, area), ...bars, ...labels, drawLevelAxis(x, area, plot.yLabel)];
  return drawPaper(plot, bottom + 60, content.join(''));
}

function drawGrid({ ticks }: Scale, { top, bottom }: Area): string {
  return ticks.map(({ at }) => line(at, top, at, bottom)).join('');
}

function barsOf({ series }: Plot, names: readonly string[]): { value: number; group: number; series: number }[] {
  return series.flatMap(({ points }, index) =>
    points
      .filter(([, value]) => Number.isFinite(value))
      .map(([x, value]) => ({ value, group: names.indexOf(String(x)), series: index })),
  );
}
