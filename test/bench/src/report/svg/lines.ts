import type { Plot } from '../../targets/target.js';
import { colourOf, dashOf, element, PAPER } from './elements.js';
import { type Area, drawHead, drawLevelAxis, drawPaper, drawUprightAxis, leftOf, RIGHT } from './frame.js';
import { bandScale, linearScale, logScale, type Range, type Scale } from './scale.js';

const AREA_HEIGHT = 280;
const MOST_NAMED_VALUES = 10;
/** With more points than this, dots would only hide the line. */
const MOST_DOTS = 25;

/** A curve for each series. */
export function drawLines(plot: Plot): string {
  const head = drawHead(plot, plot.yLabel);
  const vertical: Range = [head.bottom + AREA_HEIGHT, head.bottom];
  const y = uprightScale(plot, vertical);
  const area: Area = {
    left: leftOf(y.ticks.map(({ label }) => label)),
    right: RIGHT,
    top: head.bottom,
    bottom: head.bottom + AREA_HEIGHT,
  };
  const { scale: x, place } = levelScale(plot, [area.left + 8, area.right]);
  const curves = plot.series.map(({ points }, index) => {
    const drawn = points
      .filter(([, value]) => Number.isFinite(value))
      .map(([name, value]) => [x.at(place(name)), y.at(value)] as const);
    return drawCurve(drawn, index);
  });
  const content = [head.content, drawUprightAxis(y, area), drawLevelAxis(x, area, plot.xLabel), ...curves];
  return drawPaper(plot, area.bottom + 60, content.join(''));
}

/** From zero, unless it counts in factors: half an axis makes a small difference look large. */
export function uprightScale({ series, yScale }: Plot, range: Range): Scale {
  const values = series.flatMap(({ points }) => points.map(([, y]) => y)).filter((value) => Number.isFinite(value));
  const positive = values.filter((value) => value > 0);
  if (yScale === 'log' && positive.length > 0) {
    return logScale([Math.min(...positive), Math.max(...positive)], range);
  }
  return linearScale([Math.min(0, ...values), Math.max(0, ...values)], range, { ticks: 6, widen: true });
}

function levelScale({ series, xScale }: Plot, range: Range): { scale: Scale; place(x: number | string): number } {
  const named = [...new Set(series.flatMap(({ points }) => points.map(([x]) => x)))];
  if (named.some((x) => typeof x === 'string')) {
    return { scale: bandScale(named.map(String), range), place: (x) => named.indexOf(x) };
  }
  const values = named.map(Number).sort((a, b) => a - b);
  const domain: Range = [values[0] ?? 0, values.at(-1) ?? 1];
  if (xScale === 'log' && domain[0] > 0) {
    return { scale: logScale(domain, range, values.length > MOST_NAMED_VALUES ? [] : values), place: Number };
  }
  return { scale: linearScale(domain, range, { ticks: 8, widen: false }), place: Number };
}

function drawCurve(points: readonly (readonly [number, number])[], series: number): string {
  const stroke = colourOf(series);
  const curve = element('polyline', {
    points: points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' '),
    fill: 'none',
    stroke,
    'stroke-width': points.length > MOST_DOTS ? 1.8 : 2.2,
    'stroke-linejoin': 'round',
    'stroke-dasharray': dashOf(series),
  });
  if (points.length > MOST_DOTS) return curve;
  return curve + points.map(([cx, cy]) => element('circle', { cx, cy, r: 3.4, fill: stroke, stroke: PAPER })).join('');
}
