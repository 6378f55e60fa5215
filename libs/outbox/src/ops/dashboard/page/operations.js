import { get } from './api.js';
import { el } from './dom.js';
import { count, moment } from './format.js';
import { nothing, table } from './table.js';

/** Who changed what by hand, and why. */
export class Operations {
  title = 'Changes by hand';

  constructor() {
    this.element = el('div', {});
  }

  async refresh() {
    const { operations } = await get('operations');
    this.element.replaceChildren(
      operations.length === 0
        ? nothing(
            'Nothing was changed by hand',
            'Every redrive, discard, release, replay, pause and resume is written down here with who and why.',
          )
        : table(
            'Changes by hand',
            ['When', 'Who', 'What', 'Reason', 'Asked for', { title: 'Reached', isNumber: true }],
            operations.map(row),
          ),
    );
  }
}

function row({ at, by, action, reason, details, affected }) {
  const asked = Object.entries(details).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return { cells: [moment(at), by, action, reason, el('div', { class: 'minor' }, asked.join(', ')), count(affected)] };
}
