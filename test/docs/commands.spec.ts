import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DeadOrders, startDeadOrders } from '../cli/dead-orders.js';
import { ORDERS_CONFIG, outbox } from '../cli/outbox-cli.js';
import { codeBlocks } from './pages.js';

/** `npx outbox …` in the shell snippets of all pages; a line that ends with a backslash goes on. */
const commands = codeBlocks('sh').flatMap(({ place, text }) =>
  text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.startsWith('npx outbox '))
    .map((line) => [place, line] as const),
);

/** As a shell would, for what the pages use of it: words, quotes, comments, and pipes left out. */
function wordsOf(line: string): string[] {
  const [command = ''] = line.replace(/ #.*$/, '').split(/ [|>] /);
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '').slice(2);
}

describe('the commands that the documentation shows', { timeout: 120_000 }, () => {
  let orders: DeadOrders;
  beforeAll(async () => {
    orders = await startDeadOrders();
  });
  afterAll(() => orders.app.close());

  it('are there', () => {
    expect(commands.length).toBeGreaterThan(12);
  });

  it.each(commands)('%s: %s is understood', async (_, line) => {
    const args = wordsOf(line);
    const config = args.includes('--config') ? [] : ['--config', ORDERS_CONFIG];
    const { code, err } = await outbox([...args, ...config], { env: orders.env });
    // What an earlier command has changed may leave nothing to do; a wrong call is another matter.
    expect({ code: code === 2 ? 'wrong usage' : 'understood', err: code === 2 ? err : '' }).toEqual({
      code: 'understood',
      err: '',
    });
  });
});
