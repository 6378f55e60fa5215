import { get } from './api.js';
import { openDeadLetterAction } from './dead-letter-action.js';
import { openDeadLetter } from './dead-letter-details.js';
import { button, el } from './dom.js';
import { FilterForm } from './filter-form.js';
import { count, moment } from './format.js';
import { nothing, table } from './table.js';

/** What was given up: a page at a time, and what to do about it. */
export class DeadLetters {
  title = 'Dead letters';
  #onDone;
  #form = new FilterForm(
    [
      ['destination', 'Destination'],
      ['type', 'Event type'],
      ['aggregateType', 'Aggregate'],
      ['aggregateId', 'Aggregate id'],
      ['createdAfter', 'Written from'],
      ['createdBefore', 'Written before'],
    ],
    'Filter',
    () => this.#firstPage(),
  );
  #actions = el('div', { class: 'actions', role: 'group', 'aria-label': 'Acts on dead letters' });
  #list = el('div', {});
  #pager = el('div', { class: 'pager' });
  #filter = {};
  /** Ids after which the pages up to this one begin. */
  #starts = [undefined];
  #found = { deadLetters: [], next: undefined };
  #chosen = new Set();

  constructor(onDone) {
    this.#onDone = onDone;
    this.element = el(
      'div',
      {},
      el('details', { class: 'filter-box' }, el('summary', {}, 'Filter'), this.#form.element),
      this.#actions,
      this.#list,
      this.#pager,
    );
  }

  async refresh() {
    this.#found = await get('dead-letters', { ...this.#filter, after: this.#starts.at(-1) });
    if (this.#found.deadLetters.length === 0 && this.#starts.length > 1) {
      this.#starts.pop();
      return this.refresh();
    }
    this.#chosen.clear();
    this.#show();
  }

  async #firstPage() {
    this.#filter = this.#form.read();
    this.#starts = [undefined];
    await this.refresh();
  }

  #show() {
    const { deadLetters } = this.#found;
    const isFiltered = Object.keys(this.#filter).length > 0;
    this.#list.replaceChildren(
      deadLetters.length === 0
        ? isFiltered
          ? nothing('Nothing matches', 'No dead letter fulfils all conditions of the filter.')
          : nothing(
              'No dead letters',
              'Nothing was given up. An event comes here when its last attempt has failed, or when a destination refuses it for good.',
            )
        : this.#table(),
    );
    this.#showActions();
    this.#showPager();
  }

  #table() {
    const { deadLetters } = this.#found;
    const boxes = deadLetters.map(({ id }) =>
      el('input', {
        type: 'checkbox',
        'aria-label': `Select dead letter ${id}`,
        onchange: ({ target }) => this.#choose(id, target.checked),
      }),
    );
    const all = el('input', {
      type: 'checkbox',
      'aria-label': 'Select all on this page',
      onchange: ({ target }) => {
        for (const box of boxes) box.checked = target.checked;
        for (const { id } of deadLetters) this.#choose(id, target.checked);
      },
    });
    const rows = deadLetters.map((letter, index) => ({
      cells: [
        boxes[index],
        button(letter.id, {
          class: 'link',
          'aria-label': `Show dead letter ${letter.id}`,
          onclick: () => openDeadLetter(letter.id, (verb) => this.#act(verb, { ids: [letter.id] })),
        }),
        letter.destination,
        el(
          'div',
          {},
          el('div', {}, letter.type ?? 'event not in the log any more'),
          el('div', { class: 'minor' }, [letter.aggregateType, letter.aggregateId].filter(Boolean).join(' ')),
        ),
        el('div', { class: 'error-text' }, letter.error ?? ''),
        count(letter.attempts),
        el('time', { datetime: letter.createdAt }, moment(letter.createdAt)),
        letter.blocksKey ? el('span', { class: 'tag' }, 'blocks') : '',
      ],
    }));
    const columns = [
      { title: 'Select', node: all },
      'Id',
      'Destination',
      'Event',
      'Error',
      { title: 'Attempts', isNumber: true },
      'Written',
      'Aggregate',
    ];
    return table('Dead letters', columns, rows);
  }

  #choose(id, isChosen) {
    if (isChosen) this.#chosen.add(id);
    else this.#chosen.delete(id);
    this.#showActions();
  }

  #showActions() {
    const chosen = [...this.#chosen];
    const isFiltered = Object.keys(this.#filter).length > 0;
    const acts = (what, filter, isPossible) => [
      button(`Redrive ${what}`, { disabled: !isPossible, onclick: () => this.#act('redrive', filter) }),
      button(`Discard ${what}`, {
        disabled: !isPossible,
        class: 'danger-quiet',
        onclick: () => this.#act('discard', filter),
      }),
    ];
    const some = this.#found.deadLetters.length > 0;
    const buttons = [
      ...acts(`selected (${count(chosen.length)})`, { ids: chosen }, chosen.length > 0),
      ...acts('all that match', this.#filter, some && isFiltered),
      button('Look again', { class: 'quiet', onclick: () => this.refresh() }),
    ];
    // The buttons are the same five; only their words and states change, and the focus stays.
    if (this.#actions.childElementCount === buttons.length) {
      for (const [index, fresh] of buttons.entries()) {
        const old = this.#actions.children[index];
        if (old.textContent === fresh.textContent && old.disabled === fresh.disabled && index > 3) continue;
        const hadFocus = document.activeElement === old;
        old.replaceWith(fresh);
        if (hadFocus) fresh.focus();
      }
    } else this.#actions.replaceChildren(...buttons);
    this.#actions.hidden = !some && !isFiltered;
    this.#actions.title = isFiltered ? '' : 'To act on all that match, filter first.';
  }

  #showPager() {
    const { deadLetters, next } = this.#found;
    const page = this.#starts.length;
    this.#pager.replaceChildren(
      button('Previous', { disabled: page === 1, onclick: () => this.#turn(() => this.#starts.pop()) }),
      el('span', {}, `Page ${page}`),
      button('Next', { disabled: next === undefined, onclick: () => this.#turn(() => this.#starts.push(next)) }),
    );
    this.#pager.hidden = deadLetters.length === 0 || (page === 1 && next === undefined);
  }

  async #turn(change) {
    change();
    await this.refresh();
    document.getElementById('section-title')?.focus();
  }

  #act(verb, filter) {
    openDeadLetterAction(verb, filter, this.#onDone);
  }
}
