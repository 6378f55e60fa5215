import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DeadOrders, startDeadOrders } from '../cli/dead-orders.js';
import { outboxHere } from '../cli/outbox-cli.js';
import { codeBlocks, ROOT } from './pages.js';

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
    const file = args.indexOf('--config');
    const [, config] = file < 0 ? [] : args.splice(file, 2);
    // It reads the environment of its process, which is not this test's to change.
    if (config !== undefined) expect(existsSync(join(ROOT, config))).toBe(true);
    const { code, err } = await outboxHere(args, { env: orders.env });
    // What an earlier command has changed may leave nothing to do; a wrong call is another matter.
    expect({ code: code === 2 ? 'wrong usage' : 'understood', err: code === 2 ? err : '' }).toEqual({
      code: 'understood',
      err: '',
    });
  });
});
