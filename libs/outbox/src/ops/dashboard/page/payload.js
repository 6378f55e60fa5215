import { get } from './api.js';
import { button, el } from './dom.js';

/** A button; the payload is not even fetched before it is asked for, because it may be about people. */
export function hiddenPayload(path, size) {
  const place = el('div', { class: 'payload' });
  const show = button('Show payload', {
    onclick: async () => {
      try {
        const { payload, headers } = await get(path);
        place.replaceChildren(
          el('pre', { tabindex: 0, 'aria-label': 'Payload' }, pretty(payload)),
          el('pre', { tabindex: 0, 'aria-label': 'Headers' }, JSON.stringify(headers ?? {}, undefined, 2)),
        );
        place.firstElementChild?.focus();
      } catch (error) {
        place.append(el('p', { class: 'problem', role: 'alert' }, error.message));
      }
    },
  });
  place.append(show, el('span', { class: 'minor' }, `Hidden. ${size}.`));
  return place;
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    // No JSON: shown as it came.
    return String(text);
  }
}
