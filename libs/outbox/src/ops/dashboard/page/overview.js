import { get } from './api.js';
import { DestinationCard } from './destination-card.js';
import { setText } from './dom.js';
import { headline } from './sentences.js';
import { drawSign, WORST_FIRST } from './signs.js';
import { state } from './state.js';
import { nothing } from './table.js';

const KEPT_MS = 3_600_000;

/** The verdict and the cards. */
export class Overview {
  #cards = new Map();
  #samples = [];
  #onDone;

  constructor(onDone) {
    this.#onDone = onDone;
  }

  async refresh() {
    const [overview, { samples }] = await Promise.all([
      get('overview'),
      get('history', { after: this.#samples.at(-1)?.atMs ?? 0 }),
    ]);
    Object.assign(state, { operator: undefined, replay: undefined }, overview);
    const nowMs = new Date(overview.at).getTime();
    this.#samples = [...this.#samples, ...samples].filter(({ atMs }) => atMs > nowMs - KEPT_MS);
    this.#showVerdict(overview.destinations);
    this.#showCards(overview.destinations, nowMs);
  }

  #showVerdict(destinations) {
    const [status, title, summary] = headline(destinations);
    const verdict = document.getElementById('verdict');
    if (verdict.dataset.status !== status) {
      verdict.dataset.status = status;
      drawSign(verdict.querySelector('.sign'), status);
    }
    setText(document.getElementById('headline'), title);
    setText(document.getElementById('summary'), summary);
    document.title = `${title} · Outbox`;
  }

  #showCards(destinations, nowMs) {
    const place = document.getElementById('destinations');
    // Cards that move would take the focus away from whoever is on one of them.
    const names = place.contains(document.activeElement) ? this.#namesAsBefore(destinations) : worstFirst(destinations);
    if (names.join('\n') !== [...this.#cards.keys()].join('\n')) {
      this.#cards = new Map(
        names.map((name) => [name, this.#cards.get(name) ?? new DestinationCard(name, this.#onDone)]),
      );
      place.replaceChildren(...[...this.#cards.values()].map(({ element }) => element));
    }
    if (names.length === 0) {
      place.replaceChildren(nothing('Nothing to see yet', 'Emit an event, or start a dispatcher.'));
    }
    for (const figures of destinations) this.#cards.get(figures.name).show(figures, this.#samples, nowMs);
  }

  #namesAsBefore(destinations) {
    const names = destinations.map(({ name }) => name);
    const known = [...this.#cards.keys()].filter((name) => names.includes(name));
    return [...known, ...names.filter((name) => !known.includes(name))];
  }
}

function worstFirst(destinations) {
  const urgency = ({ status }) => WORST_FIRST.indexOf(status);
  return destinations.toSorted((one, other) => urgency(one) - urgency(other)).map(({ name }) => name);
}
