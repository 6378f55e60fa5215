import { openAction } from './action-dialog.js';
import { get, post } from './api.js';
import { openDialog } from './dialog.js';
import { button, el } from './dom.js';
import { count, moment, several } from './format.js';
import { hiddenPayload } from './payload.js';
import { nothing, table } from './table.js';

/** What this application consumes. */
export class Inbox {
  title = 'Inbox';
  #onDone;

  constructor(onDone) {
    this.#onDone = onDone;
    this.element = el('div', {});
  }

  async refresh() {
    const { consumers, parked, hasMore } = await get('inbox');
    this.element.replaceChildren(
      consumers.length === 0
        ? nothing(
            'Nothing was processed lately',
            'Consumers appear when they have processed an event within the last five minutes, or when a message has failed.',
          )
        : table(
            'Consumers',
            [
              'Consumer',
              { title: 'Processed in 5 min', isNumber: true },
              { title: 'Failing', isNumber: true },
              { title: 'Parked', isNumber: true },
            ],
            consumers.map((one) => ({
              cells: [one.consumer, count(one.processed), count(one.failing), count(one.parked)],
            })),
          ),
      el('h3', {}, 'Parked messages'),
      parked.length === 0
        ? nothing('No message is parked', 'A message of a broker is parked when its handler has failed too often.')
        : table(
            'Parked messages',
            ['Id', 'Consumer', 'Event', 'Error', { title: 'Attempts', isNumber: true }, 'Parked', 'Act'],
            parked.map((message) => this.#row(message)),
          ),
      hasMore ? el('p', { class: 'minor' }, 'The oldest 100 are shown.') : '',
    );
  }

  #row(message) {
    const { id, consumer, eventType, messageId, error, attempts, parkedAt } = message;
    return {
      cells: [
        button(id, { class: 'link', 'aria-label': `Show parked message ${id}`, onclick: () => show(message) }),
        consumer,
        el('div', {}, eventType ?? '?', el('div', { class: 'minor' }, messageId)),
        el('div', { class: 'error-text' }, error),
        count(attempts),
        moment(parkedAt),
        el(
          'div',
          { class: 'row-acts' },
          button('Redrive', {
            'aria-label': `Redrive parked message ${id}`,
            onclick: () => this.#act('redrive', message),
          }),
          button('Discard', {
            class: 'danger-quiet',
            'aria-label': `Discard parked message ${id}`,
            onclick: () => this.#act('discard', message),
          }),
        ),
      ],
    };
  }

  #act(verb, { id, consumer, eventType }) {
    const isRedrive = verb === 'redrive';
    openAction({
      title: `${isRedrive ? 'Redrive' : 'Discard'} parked message ${id}`,
      verb: isRedrive ? 'Redrive' : 'Discard',
      isDangerous: !isRedrive,
      describe: async () => ({
        isPossible: true,
        lines: [
          isRedrive
            ? `Message ${id} (${eventType ?? '?'}) is processed by "${consumer}" now, in this process, as if it had just come.`
            : `Message ${id} (${eventType ?? '?'}) is removed for good; "${consumer}" never processes it.`,
          'Who and why is written to the log of the application.',
        ],
      }),
      perform: async (change) => {
        const done = await post(`inbox/${verb}`, { ids: [id], ...change });
        if (!isRedrive) return `Message ${id} is discarded.`;
        return done.count > 0 ? `Message ${id} is processed.` : `Message ${id} has failed again and stays parked.`;
      },
      onDone: this.#onDone,
    });
  }
}

function show({ id, source, contentType, error, bodyBytes }) {
  const { body } = openDialog(`Parked message ${id}`, { wide: true });
  body.append(
    el(
      'dl',
      { class: 'facts' },
      ...[
        ['From', source],
        ['Content type', contentType],
        ['Error', error],
      ].flatMap(([title, value]) => [el('dt', {}, title), el('dd', {}, value)]),
    ),
    hiddenPayload(`inbox/parked/${encodeURIComponent(id)}/body`, several(bodyBytes, 'byte')),
  );
}
