import { el, setText } from './dom.js';

const SHOWN_MS = 8000;
let timer = 0;

/** Says once what was done, to eyes and to screen readers. */
export function announce(text) {
  const said = document.getElementById('said');
  said?.replaceChildren(el('p', {}, text));
  clearTimeout(timer);
  timer = setTimeout(() => said?.replaceChildren(), SHOWN_MS);
}

/** Says what is wrong for as long as it is; nothing takes it away. */
export function showTrouble(text) {
  const trouble = document.getElementById('trouble');
  if (trouble === null) return;
  trouble.hidden = text === undefined;
  setText(trouble, text ?? '');
}
