import { openAction } from './action-dialog.js';
import { post } from './api.js';
import { el, field } from './dom.js';
import { inWords } from './filter-form.js';
import { several } from './format.js';

const RATES = [
  ['', 'all at once'],
  ['1', '1 a second'],
  ['10', '10 a second'],
  ['100', '100 a second'],
];

/** Says how many dead letters a change reaches, and makes it. @param {'redrive' | 'discard'} verb */
export function openDeadLetterAction(verb, filter, onDone) {
  const isRedrive = verb === 'redrive';
  const pace = el('select', { name: 'perSecond' }, ...RATES.map(([value, words]) => el('option', { value }, words)));
  openAction({
    title: isRedrive ? 'Redrive dead letters' : 'Discard dead letters',
    verb: isRedrive ? 'Redrive' : 'Discard',
    isDangerous: !isRedrive,
    fields: isRedrive ? [field('Pace', pace)] : [],
    describe: async () => {
      const reached = await post('dead-letters/count', filter);
      const what = filter.ids === undefined ? inWords(filter) : filter.ids.length === 1 ? ` (${filter.ids[0]})` : '';
      return {
        count: reached.count,
        isPossible: reached.count > 0,
        lines: [
          el(
            'p',
            {},
            isRedrive ? 'This tries again ' : 'This gives up for good ',
            el('strong', {}, several(reached.count, 'dead letter')),
            `${what}.`,
          ),
          isRedrive
            ? 'Under the same event ids, from the first attempt on. One that blocks its aggregate goes first, its followers after it.'
            : 'The events stay in the log. What waits behind them goes on without them.',
        ],
      };
    },
    perform: async (change, described) => {
      const perSecond = isRedrive && pace.value !== '' ? Number(pace.value) : undefined;
      const done = await post(`dead-letters/${verb}`, { ...filter, ...change, atMost: described.count, perSecond });
      return `${several(done.count, 'dead letter')} ${isRedrive ? 'redriven' : 'discarded'}.`;
    },
    onDone,
  });
}
