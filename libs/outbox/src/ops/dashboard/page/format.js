const NUMBERS = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const SMALL_NUMBERS = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const UNITS = [
  [86_400_000, 'd', 3_600_000, 'h'],
  [3_600_000, 'h', 60_000, 'min'],
  [60_000, 'min', 1000, 's'],
];

export const count = (number) => NUMBERS.format(number);

export const rate = (perSecond) => (perSecond < 100 ? SMALL_NUMBERS : NUMBERS).format(perSecond);

/** `3 events`, `1 event`. */
export const several = (number, noun) => `${count(number)} ${noun}${number === 1 ? '' : 's'}`;

/** `0.4 s`, `3 min 20 s`, `2 d 4 h`. */
export function duration(ms) {
  for (const [size, unit, smaller, smallerUnit] of UNITS) {
    if (ms < size) continue;
    const rest = Math.floor((ms % size) / smaller);
    return `${Math.floor(ms / size)} ${unit}${rest === 0 ? '' : ` ${rest} ${smallerUnit}`}`;
  }
  if (ms <= 0) return '0 s';
  return ms < 10_000 ? `${Math.max(0.1, ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 1000)} s`;
}

/** The same without its smaller part, where there is little room. */
export const briefDuration = (ms) => duration(ms).split(' ').slice(0, 2).join(' ');

/** The time of day; with the date when that is not today. */
export function moment(text) {
  const date = new Date(text);
  const time = date.toLocaleTimeString('en-GB');
  return date.toDateString() === new Date().toDateString() ? time : `${date.toLocaleDateString('en-CA')} ${time}`;
}

export const ago = (text) => `${duration(Date.now() - new Date(text).getTime())} ago`;
