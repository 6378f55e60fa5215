import { describe, expect, it } from 'vitest';
import { drawPlot } from '../src/report/svg/draw-plot.js';
import type { Plot } from '../src/targets/target.js';

const LINES: Plot = {
  title: 'Throughput & <size>',
  kind: 'lines',
  xLabel: 'batch size',
  yLabel: 'events per second',
  xScale: 'log',
  series: [
    {
      name: 'dispatcher',
      points: [
        [1, 2000],
        [10, 11_000],
        [100, 49_000],
        [900, 80_000],
        [1000, 83_000],
      ],
    },
    {
      name: 'raw loop',
      points: [
        [1, 2500],
        [10, Number.NaN],
        [100, 55_000],
        [900, 90_000],
        [1000, 95_000],
      ],
    },
  ],
};

const BARS: Plot = {
  title: 'Throughput',
  kind: 'bars',
  xLabel: 'package',
  yLabel: 'events per second',
  series: [
    {
      name: 'ours',
      points: [
        ['first', 10],
        ['second', 30],
      ],
    },
  ],
};

interface Label {
  readonly content: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** Every text of a picture, with the room that it takes. */
function labelsOf(svg: string): Label[] {
  return [...svg.matchAll(/<text x="([^"]+)" y="([^"]+)" font-size="([^"]+)"[^>]*?>([^<]*)<\/text>/g)].map((match) => {
    const [whole, x, y, size, content = ''] = match;
    const width = content.length * Number(size) * 0.55;
    const shift = whole.includes('"middle"') ? width / 2 : whole.includes('"end"') ? width : 0;
    return { content, x: Number(x) - shift, y: Number(y), width };
  });
}

function overlapping(labels: readonly Label[]): string[] {
  return labels.flatMap((a, index) =>
    labels
      .slice(index + 1)
      .filter((b) => Math.abs(a.y - b.y) < 10 && a.x < b.x + b.width && b.x < a.x + a.width)
      .map((b) => `"${a.content}" and "${b.content}"`),
  );
}

describe('a plot', () => {
  it('is one SVG of its own ground, with nothing to load and no script', () => {
    for (const svg of [drawPlot(LINES), drawPlot(BARS)]) {
      expect(svg).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" viewBox="0 0 760 \d+/);
      expect(svg).toContain('fill="#ffffff"');
      expect(svg).not.toMatch(/<script|href|@import|NaN|undefined/);
    }
  });

  it('writes what has a meaning in XML as text', () => {
    expect(drawPlot(LINES)).toContain('>Throughput &amp; &lt;size&gt;</text>');
  });

  it('names its axes, its series and the values that were measured', () => {
    const contents = labelsOf(drawPlot(LINES)).map(({ content }) => content);
    expect(contents).toEqual(expect.arrayContaining(['events per second', 'batch size', 'dispatcher', 'raw loop']));
    expect(contents).toEqual(expect.arrayContaining(['1', '10', '100', '0', '20K', '100K']));
  });

  it('a single series needs no legend', () => {
    expect(labelsOf(drawPlot(BARS)).map(({ content }) => content)).not.toContain('ours');
  });

  it('equal factors have equal distances on a logarithmic axis', () => {
    const at = (label: string): number => {
      const found = labelsOf(drawPlot(LINES)).find(({ content, y }) => content === label && y > 300);
      return (found?.x ?? Number.NaN) + (found?.width ?? 0) / 2;
    };
    expect(at('100') - at('10')).toBeCloseTo(at('10') - at('1'), 0);
  });

  it('a missing value is left out of its line', () => {
    const [, second = ''] = [...drawPlot(LINES).matchAll(/<polyline points="([^"]+)"/g)].map(([, points]) => points);
    expect(second.split(' ')).toHaveLength(4);
  });

  it('bars start at zero and are as long as their values', () => {
    const heights = [...drawPlot(BARS).matchAll(/<rect x="[^"]+" y="[^"]+" width="[^"]+" height="([^"]+)" rx="2"/g)];
    const [first, second] = heights.map(([, height]) => Number(height));
    expect((second ?? 0) / (first ?? 1)).toBeCloseTo(3, 1);
  });

  it('bars with long names lie down', () => {
    const names = [
      'pg-transactional-outbox with logical replication',
      'graphile-worker, tuned',
      'pg-boss, fetch and complete',
    ];
    const svg = drawPlot({
      ...BARS,
      series: [{ name: 'ours', points: names.map((name, index) => [name, index + 1]) }],
    });
    expect(svg).toContain('pg-transactional-outbox with');
    expect(overlapping(labelsOf(svg))).toEqual([]);
  });

  it('no two labels overlap, and all lie on the paper', () => {
    const many = Array.from({ length: 12 }, (_, index) => `series ${index} with a name of its own`);
    const plots: Plot[] = [
      LINES,
      BARS,
      {
        ...LINES,
        series: many.map((name, index) => ({
          name,
          points: [
            [1, index],
            [2, 1234567 * index],
          ],
        })),
      },
      { ...LINES, yScale: 'log', xScale: 'linear' },
      { ...BARS, series: many.slice(0, 4).map((name) => ({ name, points: many.map((x, y) => [x, y * 111_111]) })) },
      { ...LINES, title: 'A title that is so long that it cannot stand in one line '.repeat(3).trim() },
    ];
    for (const plot of plots) {
      const svg = drawPlot(plot);
      const labels = labelsOf(svg);
      expect(overlapping(labels), plot.title).toEqual([]);
      const height = Number(/viewBox="0 0 760 (\S+)"/.exec(svg)?.[1]);
      for (const { content, x, y, width } of labels) {
        expect(x >= 0 && x + width <= 760 && y > 0 && y < height, content).toBe(true);
      }
    }
  });

  it('values that are all the same, or none at all, are drawn as well', () => {
    expect(
      drawPlot({
        ...LINES,
        series: [
          {
            name: 'flat',
            points: [
              [1, 0],
              [2, 0],
            ],
          },
        ],
      }),
    ).not.toContain('NaN');
    expect(drawPlot({ ...LINES, series: [{ name: 'one', points: [[5, 5]] }] })).not.toContain('NaN');
    expect(drawPlot({ ...BARS, series: [{ name: 'none', points: [] }] })).not.toMatch(/NaN|Infinity/);
  });
});
