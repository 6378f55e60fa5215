/** Colours, sizes and the few shapes that a chart is made of, as SVG text. */

export const INK = '#1f2933';
export const FAINT = '#616e7c';
export const GRID = '#e1e5ea';
export const PAPER = '#ffffff';

/** Okabe and Ito's colours, which people with any kind of colour vision can tell apart, darkened for a white ground. */
const SERIES = ['#0072b2', '#d55e00', '#007a5a', '#b2467f', '#8a6d00', '#3a8fc4', '#4d4d4d', '#7a4fb5'] as const;
const DASHES = ['', '7 4', '2 3', '9 3 2 3'] as const;

export const FONT_SIZE = 13;

type Attributes = Readonly<Record<string, string | number | undefined>>;

export function element(name: string, attributes: Attributes, content = ''): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([key, value]) => ` ${key}="${escapeXml(typeof value === 'number' ? short(value) : String(value))}"`);
  return `<${name}${written.join('')}${content === '' ? '/>' : `>${content}</${name}>`}`;
}

export function text(
  content: string,
  x: number,
  y: number,
  style: {
    readonly anchor?: 'middle' | 'end';
    readonly size?: number;
    readonly fill?: string;
    readonly bold?: boolean;
  } = {},
): string {
  const { anchor, size = FONT_SIZE, fill = INK, bold } = style;
  const attributes = { x, y, 'font-size': size, fill, 'text-anchor': anchor, 'font-weight': bold ? 600 : undefined };
  return element('text', attributes, escapeXml(content));
}

export function line(x1: number, y1: number, x2: number, y2: number, stroke = GRID): string {
  return element('line', { x1, y1, x2, y2, stroke });
}

export function colourOf(series: number): string {
  return SERIES[series % SERIES.length] ?? INK;
}

/** From the fifth line on, colour alone is not enough. */
export function dashOf(series: number): string {
  return series < 4 ? '' : (DASHES[Math.floor(series / 2) % DASHES.length] ?? '');
}

/** Width in pixels, rather too much than too little, because the reader's font is not known. */
export function widthOf(content: string, size = FONT_SIZE): number {
  return content.length * size * 0.6;
}

/** Breaks between words, so that no line is wider than asked unless a single word is. */
export function wrap(content: string, width: number, size = FONT_SIZE): string[] {
  const lines: string[] = [];
  for (const word of content.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || widthOf(`${last} ${word}`, size) > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

export function escapeXml(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function short(value: number): string {
  return String(Math.round(value * 10) / 10);
}
