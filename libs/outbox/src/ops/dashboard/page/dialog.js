import { button, el, freshId } from './dom.js';

/** A modal dialog: the browser keeps the focus inside, closes it with Escape and gives the focus back. */
export function openDialog(title, { wide = false } = {}) {
  const id = freshId('dialog');
  const body = el('div', { class: 'dialog-body' });
  const close = () => dialog.close();
  const dialog = el(
    'dialog',
    { 'aria-labelledby': id, class: wide ? 'wide' : undefined, onclose: () => dialog.remove() },
    el('header', {}, el('h2', { id }, title), button('Close', { class: 'quiet', onclick: close })),
    body,
  );
  document.body.append(dialog);
  dialog.showModal();
  return { dialog, body, close };
}
