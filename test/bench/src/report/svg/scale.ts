/** Where the values of an axis lie, and which of them are named. */
export interface Scale {
  readonly ticks: readonly { readonly at: number; readonly label: string }[];
  at(value: number): number;
}

export type Range = readonly [from: number, to: number];

const STEPS = [1, 2, 2.5, 5, 10] as const;

/** Round numbers at equal distances. The ends of the axis are ticks when it may be widened. */
export function linearScale(domain: Range, range: Range, options: { ticks: number; widen: boolean }): Scale {
  const span = domain[1] - domain[0] || Math.abs(domain[1]) || 1;
  const power = 10 ** Math.floor(Math.log10(span / options.ticks));
  const step = power * (STEPS.find((candidate) => span / (power * candidate) <= options.ticks) ?? 10);
  const from = options.widen ? Math.floor(domain[0] / step) * step : domain[0];
  const to = options.widen ? Math.max(Math.ceil(domain[1] / step) * step, from + step) : from + span;
  const at = (value: number): number => range[0] + ((value - from) / (to - from)) * (range[1] - range[0]);
  const values: number[] = [];
  const first = Math.ceil(from / step - 1e-9) || 0; // no minus zero
  for (let tick = first; tick * step <= to + step * 1e-9; tick += 1) values.push(tick * step);
  return { at, ticks: nameTicks(values, at) };
}

/** Equal factors at equal distances. The given values are named, or powers of ten when there are none. */
export function logScale(domain: Range, range: Range, named: readonly number[] = []): Scale {
  const values = named.length > 0 ? named : powersOfTen(domain);
  const [from, to] = named.length > 0 ? domain : ([values[0] ?? 1, values.at(-1) ?? 10] as const);
  const span = Math.log(to / from) || 1;
  const at = (value: number): number =>
    range[0] + (Math.log(Math.max(value, from) / from) / span) * (range[1] - range[0]);
  return { at, ticks: nameTicks(values, at) };
}

/** Names at equal distances, each in the middle of its band. */
export function bandScale(names: readonly string[], range: Range): Scale & { readonly band: number } {
  const band = (range[1] - range[0]) / Math.max(names.length, 1);
  const at = (index: number): number => range[0] + band * (index + 0.5);
  return { at, band, ticks: names.map((label, index) => ({ at: at(index), label })) };
}

/** Short numbers; all of an axis in thousands or millions when the largest needs it. */
function nameTicks(values: readonly number[], at: (value: number) => number): Scale['ticks'] {
  const isLarge = values.some((value) => Math.abs(value) >= 10_000);
  const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 4 });
  return values.map((value) => ({
    at: at(value),
    label: isLarge ? compact.format(value) : String(Number(value.toPrecision(4))),
  }));
}

function powersOfTen([low, high]: Range): number[] {
  const first = Math.floor(Math.log10(low));
  const last = Math.max(Math.ceil(Math.log10(high)), first + 1);
  return Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index));
}
