import { el, setText, svg } from './dom.js';

const WIDTH = 300;
const HEIGHT = 44;
const SHORTEST_MS = 300_000;
/** As many as there are dots to tell them apart. */
const MOST_POINTS = 150;

/** A small curve over time with its highest value; a gap is where nothing is known. */
export class Chart {
  #title = el('span', { class: 'chart-title' });
  #now = el('span', { class: 'chart-now' });
  #highest = el('span', { class: 'chart-highest' });
  #since = el('span', {});
  #area = svg('path', { class: 'area' });
  #line = svg('path', { class: 'line' });
  #drawing;
  #describe;
  #name;

  /** @param {(value: number) => string} describe words for a value. */
  constructor(name, describe) {
    this.#name = name;
    this.#describe = describe;
    this.#drawing = svg(
      'svg',
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img' },
      this.#area,
      this.#line,
    );
    this.element = el(
      'figure',
      { class: 'chart' },
      el('figcaption', {}, this.#title, this.#now),
      this.#drawing,
      el('p', { class: 'chart-scale' }, this.#since, this.#highest),
    );
    setText(this.#title, name);
  }

  /** @param {readonly (readonly [number, number | null])[]} points time in ms and value, oldest first. */
  show(points, nowText, nowMs) {
    const known = points.filter(([, value]) => value !== null);
    const from = Math.min(points[0]?.[0] ?? nowMs, nowMs - SHORTEST_MS);
    const highest = Math.max(0, ...known.map(([, value]) => value));
    setText(this.#now, nowText);
    setText(this.#highest, known.length === 0 ? 'no figures yet' : `peak ${this.#describe(highest)}`);
    setText(this.#since, `last ${Math.round((nowMs - from) / 60_000)} min`);
    this.#drawing.setAttribute(
      'aria-label',
      `${this.#name}: ${nowText} now, ${known.length === 0 ? 'no figures yet' : `at most ${this.#describe(highest)}`}`,
    );
    const place = ([atMs, value]) => [
      ((atMs - from) / (nowMs - from)) * WIDTH,
      HEIGHT - 2 - (highest === 0 ? 0 : (value / highest) * (HEIGHT - 6)),
    ];
    const runs = runsOf(thinned(points)).map((run) => run.map(place));
    this.#line.setAttribute('d', runs.map(lineOf).join(''));
    this.#area.setAttribute('d', runs.map(areaOf).join(''));
  }
}

/** Of neighbours only the highest: a peak must not get lost. */
function thinned(points) {
  const size = Math.ceil(points.length / MOST_POINTS);
  if (size < 2) return points;
  const groups = [];
  for (let from = 0; from < points.length; from += size) groups.push(points.slice(from, from + size));
  return groups.map((group) =>
    group.reduce((highest, point) => ((point[1] ?? -1) > (highest[1] ?? -1) ? point : highest)),
  );
}

/** Stretches without a gap. */
function runsOf(points) {
  const runs = [[]];
  for (const point of points) {
    if (point[1] === null) runs.push([]);
    else runs.at(-1)?.push(point);
  }
  return runs.filter((run) => run.length > 0);
}

function lineOf(run) {
  // A single point would be invisible.
  const [[x, y]] = run;
  if (run.length === 1) return `M${x.toFixed(1)} ${y.toFixed(1)}h1`;
  return run.map(([px, py], index) => `${index === 0 ? 'M' : 'L'}${px.toFixed(1)} ${py.toFixed(1)}`).join('');
}

function areaOf(run) {
  if (run.length < 2) return '';
  const [first] = run[0];
  const [last] = run[run.length - 1];
  return `${lineOf(run)}L${last.toFixed(1)} ${HEIGHT}L${first.toFixed(1)} ${HEIGHT}Z`;
}
