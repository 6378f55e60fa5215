import { openAction } from './action-dialog.js';
import { get, post } from './api.js';
import { button, el } from './dom.js';
import { count, moment, several } from './format.js';
import { nothing, table } from './table.js';

/** Aggregates whose events wait for one of them. */
export class BlockedKeys {
  title = 'Blocked aggregates';
  #onDone;

  constructor(onDone) {
    this.#onDone = onDone;
    this.element = el('div', {});
  }

  async refresh() {
    const { blockedKeys, hasMore } = await get('blocked-keys');
    if (blockedKeys.length === 0) {
      this.element.replaceChildren(
        nothing(
          'No aggregate is blocked',
          'Events of ordered types go out one after the other. When one of them fails, those behind it wait here.',
        ),
      );
      return;
    }
    const columns = ['Aggregate', 'Destination', { title: 'Waiting', isNumber: true }, 'Held by', 'Error', 'Act'];
    this.element.replaceChildren(
      table(
        'Blocked aggregates',
        columns,
        blockedKeys.map((key) => this.#row(key)),
      ),
      hasMore ? el('p', { class: 'minor' }, 'The oldest 100 are shown.') : '',
    );
  }

  #row(key) {
    const { aggregateType = '?', aggregateId = '?', destination, followers, heldBy } = key;
    const isDead = heldBy.state === 'dead';
    return {
      cells: [
        el('div', {}, aggregateType, el('div', { class: 'minor' }, aggregateId)),
        destination,
        count(followers),
        isDead ? `dead letter ${heldBy.id}` : `retry at ${moment(heldBy.availableAt)}`,
        el('div', { class: 'error-text' }, heldBy.error ?? ''),
        isDead && key.aggregateId !== undefined
          ? button('Release', {
              'aria-label': `Release ${aggregateType} ${aggregateId}`,
              onclick: () => this.#release(key),
            })
          : '',
      ],
    };
  }

  #release({ destination, aggregateType, aggregateId, followers, heldBy }) {
    openAction({
      title: 'Release a blocked aggregate',
      verb: 'Release',
      isDangerous: true,
      describe: async () => ({
        isPossible: true,
        lines: [
          el(
            'p',
            {},
            el('strong', {}, several(followers, 'event')),
            ` of ${aggregateType} ${aggregateId} ${followers === 1 ? 'goes' : 'go'} on to ${destination}, in order.`,
          ),
          `Dead letter ${heldBy.id} stays one. Redriven later, its event arrives after those that passed it; to keep the order, redrive or discard it instead.`,
        ],
      }),
      perform: async (change) => {
        await post('blocked-keys/release', { destination, aggregateType, aggregateId, ...change });
        return `${aggregateType} ${aggregateId} goes on.`;
      },
      onDone: this.#onDone,
    });
  }
}
