import { openAction } from './action-dialog.js';
import { post } from './api.js';
import { Chart } from './chart.js';
import { button, el, setText } from './dom.js';
import { briefDuration, count, rate, several } from './format.js';
import { age, because } from './sentences.js';
import { drawSign, sign, WORDS } from './signs.js';

/** One destination. It is made once and then only changed, so that a button keeps the focus while figures come in. */
export class DestinationCard {
  #name;
  #figures;
  #shape = sign('unknown');
  #word = el('strong', {});
  #why = el('p', { class: 'why' });
  #age = el('dd', { class: 'big' });
  #rate = el('dd', { class: 'big' });
  #numbers = {};
  #flowChart = new Chart('Delivered', (value) => `${rate(value)}/s`);
  #ageChart = new Chart('Age of the oldest', briefDuration);
  #toggle;

  /** @param {() => unknown} onDone after a change */
  constructor(name, onDone) {
    this.#name = name;
    this.#toggle = button('', { class: 'quiet', onclick: () => this.#openToggle(onDone) });
    const number = (key, title) => {
      this.#numbers[key] = el('dd', {});
      return el('div', {}, el('dt', {}, title), this.#numbers[key]);
    };
    this.element = el(
      'article',
      { class: 'card', 'aria-label': `Destination ${name}` },
      el(
        'header',
        {},
        el('div', {}, el('h3', {}, name), el('p', { class: 'status' }, this.#shape, this.#word)),
        this.#toggle,
      ),
      this.#why,
      el(
        'dl',
        { class: 'headline-figures' },
        el('div', {}, el('dt', {}, 'Oldest undelivered'), this.#age),
        el('div', {}, el('dt', {}, 'Delivered'), this.#rate),
      ),
      el('div', { class: 'charts' }, this.#ageChart.element, this.#flowChart.element),
      el(
        'dl',
        { class: 'figures' },
        number('pending', 'Waiting'),
        number('retrying', 'Retrying'),
        number('processing', 'Under way'),
        number('expiredLeases', 'Lease lost'),
        number('dead', 'Dead'),
      ),
    );
  }

  show(figures, samples, nowMs) {
    this.#figures = figures;
    const { status } = figures;
    if (this.element.dataset.status !== status) {
      this.element.dataset.status = status;
      drawSign(this.#shape, status);
    }
    setText(this.#word, WORDS[status]);
    setText(this.#why, because(figures));
    setText(this.#age, age(figures.oldestUndeliveredMs));
    for (const [key, element] of Object.entries(this.#numbers)) {
      setText(element, count(figures[key]));
      element.parentElement.classList.toggle('zero', figures[key] === 0);
    }
    this.#numbers.dead.parentElement.classList.toggle('alarming', figures.dead > 0);
    this.#numbers.expiredLeases.parentElement.classList.toggle('alarming', figures.expiredLeases > 0);
    const label = status === 'paused' ? 'Resume' : 'Pause';
    setText(this.#toggle, label);
    this.#toggle.setAttribute('aria-label', `${label} ${this.#name}`);
    this.#draw(samples, nowMs);
  }

  #draw(samples, nowMs) {
    const own = samples.map(({ atMs, destinations }) => [atMs, destinations[this.#name] ?? [null, null]]);
    const flow = own.map(([atMs, [perSecond]]) => [atMs, perSecond]);
    const perSecond = flow.findLast(([, value]) => value !== null)?.[1];
    const now = perSecond === undefined ? '–' : `${rate(perSecond)}/s`;
    setText(this.#rate, now);
    this.#flowChart.show(flow, now, nowMs);
    this.#ageChart.show(
      own.map(([atMs, [, oldestMs]]) => [atMs, oldestMs]),
      age(this.#figures.oldestUndeliveredMs),
      nowMs,
    );
  }

  #openToggle(onDone) {
    const { pending, processing, pause } = this.#figures;
    const isPaused = pause !== undefined;
    const waiting = `${several(pending, 'event')} ${pending === 1 ? 'waits' : 'wait'} for it now.`;
    openAction({
      title: `${isPaused ? 'Resume' : 'Pause'} ${this.#name}`,
      verb: isPaused ? 'Resume' : 'Pause',
      describe: async () => ({
        isPossible: true,
        lines: isPaused
          ? [`All dispatchers go on with it within a second. ${waiting}`, `Paused by ${pause.by}: ${pause.reason}`]
          : [
              `No dispatcher takes anything more for it, in all processes, until somebody resumes it. ${waiting}`,
              `What is under way (${count(processing)}) is finished. New events are stored as ever.`,
            ],
      }),
      perform: async (change) => {
        await post(`destinations/${isPaused ? 'resume' : 'pause'}`, { destination: this.#name, ...change });
        return `${this.#name} is ${isPaused ? 'resumed' : 'paused'}.`;
      },
      onDone,
    });
  }
}
