import { announce } from './announce.js';
import { openDialog } from './dialog.js';
import { button, el, field } from './dom.js';
import { askedName, rememberName, state } from './state.js';

/**
 * Shows what a change would reach, asks why, and does it only then.
 *
 * @param {object} action
 * @param {string} action.title
 * @param {string} action.verb the word on the button
 * @param {boolean} [action.isDangerous] it cannot be taken back
 * @param {() => Promise<{ lines: (Node | string)[], isPossible: boolean, [more: string]: unknown }>} action.describe
 * @param {Node[]} [action.fields] beside name and reason
 * @param {(change: { by?: string, reason: string }, described: object) => Promise<string>} action.perform resolves with what was done
 * @param {() => unknown} action.onDone
 */
export function openAction({ title, verb, isDangerous = false, describe, fields = [], perform, onDone }) {
  const { dialog, body, close } = openDialog(title);
  const reach = el('div', { class: 'reach', role: 'status' }, el('p', {}, 'Looking what this would reach …'));
  const name =
    state.operator === undefined
      ? el('input', { name: 'by', required: true, maxlength: 200, autocomplete: 'name' })
      : undefined;
  if (name !== undefined) name.value = askedName();
  const reason = el('textarea', { name: 'reason', required: true, maxlength: 1000, rows: 3 });
  const problem = el('p', { class: 'problem', role: 'alert' });
  const confirm = button(verb, { type: 'submit', class: isDangerous ? 'danger' : 'primary', disabled: true });
  let described;

  const form = el(
    'form',
    { onsubmit: submit },
    reach,
    ...fields,
    name && field('Your name', name, 'Written down with the change.'),
    field(
      'Reason',
      reason,
      state.operator === undefined ? undefined : `Written down with the change, by ${state.operator}.`,
    ),
    problem,
    el('footer', {}, button('Cancel', { onclick: close }), confirm),
  );
  body.append(form);
  (name === undefined || name.value !== '' ? reason : name).focus();
  look();

  async function look() {
    try {
      described = await describe();
      reach.replaceChildren(...described.lines.map((line) => (typeof line === 'string' ? el('p', {}, line) : line)));
      confirm.disabled = !described.isPossible;
    } catch (error) {
      reach.replaceChildren();
      problem.textContent = error.message;
    }
  }

  async function submit(event) {
    event.preventDefault();
    if (confirm.disabled) return;
    if (reason.value.trim() === '') {
      problem.textContent = 'Say why: it is written down with the change.';
      reason.focus();
      return;
    }
    confirm.disabled = true;
    problem.textContent = '';
    if (name !== undefined) rememberName(name.value);
    try {
      const said = await perform({ by: name?.value, reason: reason.value }, described);
      dialog.close();
      announce(said);
      await onDone();
    } catch (error) {
      problem.textContent = error.message;
      confirm.disabled = false;
    }
  }
}
