import { button, el, field } from './dom.js';
import { state } from './state.js';

/** Fields of a filter; what is empty does not count. */
export class FilterForm {
  #inputs = new Map();

  /**
   * @param {[name: string, label: string][]} fields `destination` becomes a list, names that end in Before or After a time
   * @param {string} verb the word on the button
   * @param {() => unknown} onSubmit
   */
  constructor(fields, verb, onSubmit) {
    for (const [name, label] of fields) this.#inputs.set(name, [label, inputFor(name)]);
    this.element = el(
      'form',
      {
        class: 'filter',
        onsubmit: (event) => {
          event.preventDefault();
          onSubmit();
        },
      },
      ...[...this.#inputs.values()].map(([label, input]) => field(label, input)),
      el(
        'div',
        { class: 'filter-buttons' },
        button(verb, { type: 'submit', class: 'primary' }),
        button('Clear', {
          class: 'quiet',
          onclick: () => {
            for (const [, input] of this.#inputs.values()) input.value = '';
            onSubmit();
          },
        }),
      ),
    );
  }

  /** @returns {Record<string, string>} times in UTC */
  read() {
    const given = [...this.#inputs].flatMap(([name, [, input]]) => {
      const text = input.value.trim();
      if (text === '') return [];
      return [[name, input.type === 'datetime-local' ? new Date(text).toISOString() : text]];
    });
    return Object.fromEntries(given);
  }
}

function inputFor(name) {
  if (name === 'destination') {
    const options = state.destinations.map((one) => el('option', { value: one.name }, one.name));
    return el('select', { name }, el('option', { value: '' }, 'all'), ...options);
  }
  const isTime = /(Before|After)$/.test(name);
  return el('input', {
    name,
    type: isTime ? 'datetime-local' : 'text',
    maxlength: isTime ? undefined : 255,
    autocomplete: 'off',
  });
}

/** Words for a filter, for the sentence that says what a change would reach. */
export function inWords(filter) {
  const words = Object.entries(filter).map(([name, value]) => `${LABELS[name] ?? name} ${value}`);
  return words.length === 0 ? '' : ` with ${words.join(', ')}`;
}

const LABELS = {
  destination: 'destination',
  type: 'type',
  aggregateType: 'aggregate',
  aggregateId: 'aggregate id',
  createdAfter: 'written from',
  createdBefore: 'written before',
  emittedAfter: 'emitted from',
  emittedBefore: 'emitted before',
};
