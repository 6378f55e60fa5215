// Everything that is shown comes from somewhere else: it becomes text nodes and attributes, never markup.

const SVG = 'http://www.w3.org/2000/svg';

/**
 * An element with attributes (`onclick` and the like are listeners; undefined and false are left out) and children.
 *
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {...(Node | string | false | undefined)} children
 */
export function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.filter((child) => child !== undefined && child !== false));
  return element;
}

/** Writes only what changes, so that a selection by hand and the focus stay. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function button(label, attributes = {}) {
  return el('button', { type: 'button', ...attributes }, label);
}

/** A field with its label, and what is to be said about it. */
export function field(label, input, hint) {
  const id = freshId('field');
  input.id = id;
  if (hint !== undefined) input.setAttribute('aria-describedby', `${id}-hint`);
  return el(
    'div',
    { class: 'field' },
    el('label', { for: id }, label),
    input,
    hint !== undefined && el('small', { id: `${id}-hint` }, hint),
  );
}

let nextId = 0;

export function freshId(name) {
  nextId += 1;
  return `${name}-${nextId}`;
}
