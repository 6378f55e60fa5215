import { openAction } from './action-dialog.js';
import { announce } from './announce.js';
import { post } from './api.js';
import { button, el, field } from './dom.js';
import { FilterForm, inWords } from './filter-form.js';
import { count, moment, several } from './format.js';
import { state } from './state.js';
import { nothing, table } from './table.js';

/** Sends delivered events again: first what it would be, then why, then it. */
export class Replay {
  title = 'Replay';
  #onDone;
  #form = new FilterForm(
    [
      ['destination', 'Destination'],
      ['type', 'Event type'],
      ['aggregateType', 'Aggregate'],
      ['aggregateId', 'Aggregate id'],
      ['emittedAfter', 'Emitted from'],
      ['emittedBefore', 'Emitted before'],
    ],
    'Show what it would send',
    () => this.#preview(),
  );
  #progress = el('div', { role: 'status' });
  #found = el('div', {});

  constructor(onDone) {
    this.#onDone = onDone;
    this.element = el(
      'div',
      {},
      el(
        'p',
        { class: 'lead' },
        'Sends events from the log again that were delivered, under their ids: a consumer with an inbox has to forget them first, or it answers that they are duplicates.',
      ),
      this.#progress,
      this.#form.element,
      this.#found,
    );
  }

  async refresh() {
    this.tick();
  }

  /** With every look at the overview. */
  tick() {
    const { replay } = state;
    if (replay === undefined) {
      this.#progress.replaceChildren();
      return;
    }
    const { queued, total, by, reason, error } = replay;
    const words = { running: 'Replay runs', done: 'Replay done', stopped: 'Replay stopped', failed: 'Replay failed' }[
      replay.state
    ];
    const text = `${words}: ${count(queued)} of ${count(total)} queued, by ${by}: ${reason}${error === undefined ? '' : `. ${error}`}`;
    if (this.#progress.firstElementChild?.getAttribute('data-text') === text) return;
    this.#progress.replaceChildren(
      el(
        'div',
        { class: 'notice', 'data-text': text },
        el('p', {}, text),
        el('progress', { max: total, value: queued, 'aria-label': 'Queued' }),
        replay.state === 'running' && button('Stop', { onclick: () => this.#stop() }),
      ),
    );
  }

  async #stop() {
    try {
      await post('replay/stop', {});
      announce('The replay stops after the part that is being queued.');
    } catch (error) {
      announce(error.message);
    }
  }

  async #preview() {
    const filter = this.#form.read();
    if (Object.keys(filter).length === 0) {
      this.#found.replaceChildren(
        nothing('Name at least one condition', 'Without one it would be everything that was ever delivered.'),
      );
      return;
    }
    try {
      const { destinations } = await post('replay/preview', filter);
      this.#found.replaceChildren(
        ...(destinations.length === 0
          ? [nothing('Nothing matches', 'No delivered event fulfils all conditions.')]
          : this.#offer(filter, destinations)),
      );
    } catch (error) {
      this.#found.replaceChildren(el('p', { class: 'problem', role: 'alert' }, error.message));
    }
  }

  #offer(filter, destinations) {
    const total = sum(destinations);
    const rows = destinations.map((one) => ({
      cells: [one.destination, count(one.count), moment(one.oldest), moment(one.newest)],
    }));
    return [
      table('What a replay would send', ['Destination', { title: 'Events', isNumber: true }, 'Oldest', 'Newest'], rows),
      el(
        'div',
        { class: 'actions' },
        button(`Replay ${several(total, 'event')} …`, { class: 'danger-quiet', onclick: () => this.#replay(filter) }),
      ),
    ];
  }

  #replay(filter) {
    const pace = el('input', { name: 'perSecond', type: 'number', min: 1, max: 10_000, value: 100, required: true });
    openAction({
      title: 'Replay delivered events',
      verb: 'Replay',
      isDangerous: true,
      fields: [field('How many a second', pace)],
      describe: async () => {
        const { destinations } = await post('replay/preview', filter);
        const total = sum(destinations);
        return {
          total,
          isPossible: total > 0,
          lines: [
            el('p', {}, 'This sends ', el('strong', {}, several(total, 'event')), ` again${inWords(filter)}:`),
            ...destinations.map((one) => `${one.destination}: ${count(one.count)}`),
          ],
        };
      },
      perform: async (change, described) => {
        const { replay } = await post('replay', {
          ...filter,
          ...change,
          atMost: described.total,
          perSecond: Number(pace.value),
        });
        return replay.state === 'done'
          ? `${several(replay.queued, 'event')} queued again.`
          : `The replay of ${several(replay.total, 'event')} runs.`;
      },
      onDone: async () => {
        this.#found.replaceChildren();
        await this.#onDone();
      },
    });
  }
}

function sum(destinations) {
  return destinations.reduce((all, one) => all + one.count, 0);
}
