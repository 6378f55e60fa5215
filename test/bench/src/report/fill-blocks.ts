import { conditions, markdownTable } from './markdown.js';
import type { StoredResult, StoredResults } from './results-file.js';

const BLOCK = /(<!-- measured: (\w+) (.+?) -->\n)[\s\S]*?(<!-- end -->)/g;

/**
 * Puts measured tables into a page that is written by hand. `<!-- measured: P15 title of a table -->` up to
 * `<!-- end -->` is replaced by that table, `<!-- measured: P15 conditions -->` by what it was measured on; a block
 * whose target was not measured stays as it is.
 *
 * @throws Error when the target was measured and has no such table, because then the page asks for what is gone.
 */
export function fillBlocks(page: string, results: StoredResults): string {
  return page.replace(BLOCK, (block: string, opening: string, id: string, name: string, closing: string) => {
    const result = results[id];
    if (result === undefined) return block;
    if (name === 'conditions') return `${opening}\n${conditionsText(result)}\n\n${closing}`;
    const table = result.tables?.find(({ title }) => title === name);
    if (table === undefined) throw new Error(`${id} has no table "${name}", which a page asks for.`);
    return `${opening}\n${markdownTable(table)}\n\n${closing}`;
  });
}

function conditionsText({ run }: StoredResult): string {
  const warning = run.isQuick ? ' **From a quick run: the times mean nothing yet.**' : '';
  return `Measured on ${run.at.slice(0, 10)} on ${conditions(run)}.${warning}`;
}
