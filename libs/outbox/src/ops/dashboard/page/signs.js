import { svg } from './dom.js';

/** Each state has a shape of its own, so that nobody needs to tell colours apart. */
const SHAPES = {
  healthy: 'M5 12.5l4.5 4.5L19 7.5',
  lagging: 'M12 5v8l5 3',
  paused: 'M9 6v12M15 6v12',
  stopped: 'M7 7h10v10H7z',
  unreachable: 'M7 7l10 10M17 7L7 17',
  dead: 'M12 5v9M12 18.4v.2',
  unknown: 'M6 12h12',
};

export const WORDS = {
  healthy: 'Healthy',
  lagging: 'Lagging',
  paused: 'Paused',
  stopped: 'Stopped',
  unreachable: 'Unreachable',
};

/** In the order in which they need somebody. */
export const WORST_FIRST = ['unreachable', 'stopped', 'lagging', 'paused', 'healthy'];

export function sign(status) {
  const shape = svg('svg', { class: 'sign', viewBox: '0 0 24 24', 'aria-hidden': 'true' });
  drawSign(shape, status);
  return shape;
}

export function drawSign(shape, status) {
  shape.replaceChildren(svg('circle', { cx: 12, cy: 12, r: 11 }), svg('path', { d: SHAPES[status] }));
}
