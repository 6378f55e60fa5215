import { el } from './dom.js';

/**
 * A table which becomes a list of cards on a narrow screen. The roles are named, because a browser takes them away from what
 * is not laid out as a table.
 *
 * @param {string} label
 * @param {(string | { title: string, isNumber?: boolean, node?: Node })[]} columns
 * @param {{ cells: (Node | string)[], attributes?: object }[]} rows
 */
export function table(label, columns, rows) {
  const heads = columns.map((column) => (typeof column === 'string' ? { title: column } : column));
  return el(
    'table',
    { role: 'table', 'aria-label': label },
    el(
      'thead',
      { role: 'rowgroup' },
      el(
        'tr',
        { role: 'row' },
        ...heads.map(({ title, isNumber, node }) =>
          el('th', { role: 'columnheader', scope: 'col', class: isNumber ? 'number' : undefined }, node ?? title),
        ),
      ),
    ),
    el(
      'tbody',
      { role: 'rowgroup' },
      ...rows.map(({ cells, attributes = {} }) =>
        el(
          'tr',
          { role: 'row', ...attributes },
          ...cells.map((cell, index) =>
            el(
              'td',
              { role: 'cell', 'data-label': heads[index].title, class: heads[index].isNumber ? 'number' : undefined },
              cell,
            ),
          ),
        ),
      ),
    ),
  );
}

export function nothing(title, text) {
  return el('div', { class: 'nothing' }, el('p', {}, el('strong', {}, title)), el('p', {}, text));
}
