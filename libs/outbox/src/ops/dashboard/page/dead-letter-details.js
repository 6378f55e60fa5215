import { get } from './api.js';
import { openDialog } from './dialog.js';
import { button, el } from './dom.js';
import { count, moment, several } from './format.js';
import { hiddenPayload } from './payload.js';
import { table } from './table.js';

/** One dead letter with what was tried. @param {(verb: 'redrive' | 'discard') => void} act */
export async function openDeadLetter(id, act) {
  const { body, close } = openDialog(`Dead letter ${id}`, { wide: true });
  try {
    const letter = await get(`dead-letters/${encodeURIComponent(id)}`);
    body.replaceChildren(...parts(letter), decisions(act, close));
  } catch (error) {
    body.replaceChildren(el('p', { class: 'problem', role: 'alert' }, error.message));
  }
}

function parts(letter) {
  return [
    el(
      'dl',
      { class: 'facts' },
      ...facts(letter).flatMap(([title, value]) => [el('dt', {}, title), el('dd', {}, value)]),
    ),
    el('h3', {}, 'Attempts'),
    letter.history.length === 0
      ? el('p', { class: 'minor' }, 'No history was kept.')
      : table('History of attempts', ['When', 'What', 'Error'], letter.history.map(entry)),
    el('h3', {}, 'Payload and headers'),
    letter.payloadCharacters === undefined
      ? el('p', { class: 'minor' }, 'The event is not in the log any more.')
      : hiddenPayload(
          `dead-letters/${encodeURIComponent(letter.id)}/payload`,
          `${several(letter.payloadCharacters, 'character')} of JSON`,
        ),
  ];
}

function facts(letter) {
  const { destination, type, eventId, aggregateType, aggregateId, sequence, emittedAt, attempts, error } = letter;
  return [
    ['Destination', destination],
    ['Event', `${type ?? '?'}  ${eventId}`],
    [
      'Aggregate',
      `${aggregateType ?? '?'} ${aggregateId ?? '?'}${sequence === undefined ? '' : `, number ${sequence}`}`,
    ],
    ['Emitted', emittedAt === undefined ? '?' : moment(emittedAt)],
    ['Attempts', count(attempts)],
    ['Holds back', letter.blocksKey ? `${several(letter.followers, 'event')} of the same aggregate` : 'nothing'],
    ['Last error', error ?? ''],
  ];
}

function entry({ at, attempt, error, redrivenBy }) {
  return {
    cells: [
      moment(at),
      attempt === undefined ? `sent again by ${redrivenBy}` : `attempt ${attempt} failed`,
      error ?? '',
    ],
  };
}

function decisions(act, close) {
  const decide = (verb) => () => {
    close();
    act(verb);
  };
  return el(
    'footer',
    {},
    button('Discard …', { class: 'danger-quiet', onclick: decide('discard') }),
    button('Redrive …', { class: 'primary', onclick: decide('redrive') }),
  );
}
