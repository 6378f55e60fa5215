import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type DeadOrders, startDeadOrders } from './dead-orders.js';
import { ORDERS_CONFIG, outboxHere as outbox, outbox as outboxProgram } from './outbox-cli.js';

const BECAUSE = ['--reason', 'a test', '--yes'];
const NO_SERVER = 'postgres://nobody:hidden@127.0.0.1:1/none';
const NOWHERE = '00000000-0000-7000-8000-000000000000';

/** Every command with what makes it complete, so that only one thing is wrong at a time. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  status: ['status'],
  doctor: ['doctor'],
  list: ['dead-letters', 'list'],
  show: ['dead-letters', 'show', '1'],
  redrive: ['dead-letters', 'redrive', '--all', ...BECAUSE],
  discard: ['dead-letters', 'discard', '--all', ...BECAUSE],
  blocked: ['keys', 'blocked'],
  release: ['keys', 'release', '--all', ...BECAUSE],
  replay: ['replay', '--all', ...BECAUSE],
  pause: ['pause', 'shipping', ...BECAUSE],
  resume: ['resume', 'shipping', ...BECAUSE],
  operations: ['operations'],
  retention: ['retention', 'run', '--older-than', '1d', '--yes'],
  parked: ['inbox', 'parked'],
  'discard parked': ['inbox', 'discard', '--all', '--yes'],
  migrate: ['migrate', '--yes'],
};
const everyCommand = Object.entries(COMMANDS);
/** Those that need the tables; of the inbox there are none in this database. */
const readingTables = everyCommand.filter(([name]) => !['doctor', 'migrate'].includes(name));

/** One or two sentences for people, never a stack trace, and nothing secret. */
function expectSentence(err: string): void {
  expect(err).toMatch(/\S/);
  expect(err).not.toMatch(/^\s+at /m);
  expect(err).not.toContain('hidden');
}

describe('what is wrong with a call is said in a sentence, and changes nothing', { timeout: 120_000 }, () => {
  let orders: DeadOrders;
  let empty: TestDatabase;
  let directory: string;
  beforeAll(async () => {
    orders = await startDeadOrders();
    empty = await createTestDatabase();
    directory = await mkdtemp(join(tmpdir(), 'outbox-cli-'));
  });
  afterAll(async () => {
    await rm(directory, { recursive: true, force: true });
    await orders.app.close();
    await empty.drop();
  });
  const fingerprint = (): Promise<unknown> =>
    orders.app.database.query(
      `select (select count(*) from outbox_delivery_operation) as operations, array_agg(d.status order by d.id) from outbox_delivery d`,
    );

  it.each(everyCommand)('%s: an unknown option', async (_, args) => {
    const { code, out, err } = await outbox([...args, '--sideways'], { env: orders.env });
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain("unknown option '--sideways'");
    expectSentence(err);
  });

  it.each(everyCommand)('%s: a database that does not answer', async (_, args) => {
    const { code, out, err } = await outbox([...args, '--url', NO_SERVER]);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^outbox: PostgreSQL at 127\.0\.0\.1:1, database "none", does not answer: .*ECONNREFUSED/);
    expectSentence(err);
  });

  it.each(everyCommand)('%s: no database at all', async (_, args) => {
    const { code, err } = await outbox(args, { cwd: directory });
    expect(code).toBe(2);
    expect(err).toBe(
      'outbox: no database. Name a configuration file with --config, or the database with --url or DATABASE_URL.\n',
    );
  });

  it.each(readingTables)('%s: missing tables', async (_, args) => {
    const { code, out, err } = await outbox([...args, '--url', empty.url]);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^outbox: the (outbox|inbox) tables in schema "public" are missing\. Run `outbox migrate`/);
    expectSentence(err);
  });

  it.each([
    ['a file that is not there', undefined, 'does not exist'],
    ['no default export', 'export const config = {};', 'has no default export'],
    ['no data source', 'export default { outbox: {} };', 'has no "dataSource"'],
    ['an unknown key', 'export default { dataSource: {}, outbocks: {} };', 'has "outbocks", which means nothing'],
    ['an error of its own', 'throw new Error("no such variable");', 'does not load: Error: no such variable'],
    ['a syntax error', 'export default {', 'does not load: '],
  ])('a configuration file with %s', async (name, content, sentence) => {
    const file = join(directory, `${name.replaceAll(' ', '-')}.mjs`);
    if (content !== undefined) await writeFile(file, content);
    const { code, out, err } = await outbox(['status', '--config', file]);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(sentence);
    expectSentence(err);
  });

  it.each([
    ['an unknown command', ['statsu'], 2, "unknown command 'statsu'"],
    ['no command', [], 2, 'Usage: outbox'],
    ['a group without a command', ['dead-letters'], 2, 'Usage: outbox dead-letters'],
    ['too many arguments', ['status', 'now'], 2, 'too many arguments'],
    ['a missing id', ['dead-letters', 'show'], 2, "missing required argument 'id'"],
    ['an id that is none', ['dead-letters', 'show', 'abc'], 2, '"abc" is no id of a delivery'],
    ['an unknown id', ['dead-letters', 'show', '999999'], 1, 'there is no dead letter 999999'],
    ['an id that is none', ['dead-letters', 'redrive', '1;drop', ...BECAUSE], 2, 'is no id of a delivery'],
    ['an unknown id', ['dead-letters', 'redrive', '999999', ...BECAUSE], 1, 'no dead letter matches'],
    ['an unknown destination', ['dead-letters', 'list', '--destination', 'mars'], 2, '"mars" is no destination'],
    ['an unknown destination', ['pause', 'mars', ...BECAUSE], 2, 'Known are: inventory, shipping.'],
    ['an unknown destination', ['replay', '--destination', 'mars', ...BECAUSE], 2, '"mars" is no destination'],
    ['a filter that matches nothing', ['dead-letters', 'discard', '--type', 'x', ...BECAUSE], 1, 'no dead letter'],
    ['a filter that matches nothing', ['keys', 'release', '--aggregate-id', 'x', ...BECAUSE], 1, 'no aggregate'],
    ['a filter that matches nothing', ['replay', NOWHERE, ...BECAUSE], 1, 'no delivered event matches'],
    ['a filter that is everything', ['dead-letters', 'redrive', ...BECAUSE], 2, 'that would be everything'],
    ['a filter that is everything', ['dead-letters', 'discard', ...BECAUSE], 2, 'that would be everything'],
    ['a filter that is everything', ['keys', 'release', ...BECAUSE], 2, 'that would be everything'],
    ['a filter that is everything', ['replay', ...BECAUSE], 2, 'that would be everything'],
    ['--all with a filter', ['replay', '--all', '--type', 'x', ...BECAUSE], 2, '--all and a condition contradict'],
    ['more than is allowed', ['replay', '--all', '--at-most', '1', ...BECAUSE], 2, 'selects more than 1 deliveries'],
    ['no reason', ['dead-letters', 'redrive', '--all', '--yes'], 2, '--reason is missing'],
    ['no reason', ['pause', 'shipping', '--yes'], 2, '--reason is missing'],
    ['a blank reason', ['keys', 'release', '--all', '--yes', '--reason', ' '], 2, '--reason is missing'],
    [
      'a reason that is too long',
      ['pause', 'shipping', '--yes', '--reason', 'x'.repeat(1001)],
      2,
      '"reason" is text of',
    ],
    ['a limit that is no number', ['dead-letters', 'list', '--limit', 'ten'], 2, 'must be a whole number'],
    ['a limit out of bounds', ['operations', '--limit', '0'], 2, 'must be a whole number from 1 to 10000'],
    ['a time that is none', ['dead-letters', 'list', '--created-before', 'tuesday'], 2, 'must be a date or a time'],
    ['a duration that is none', ['retention', 'run', '--older-than', '30'], 2, 'must be a number with s, m, h or d'],
    ['no age', ['retention', 'run', '--yes', '--url', NO_SERVER], 2, 'how old?'],
  ])('%s: %j', async (_, args, code, sentence) => {
    const before = await fingerprint();
    const result = await outbox(args, { env: orders.env });
    expect([result.code, result.out]).toEqual([code, '']);
    expect(result.err).toContain(sentence);
    expectSentence(result.err);
    expect(await fingerprint()).toEqual(before);
  });

  it('--verbose says where an error came from', async () => {
    const { code, err } = await outbox(['status', '--url', NO_SERVER, '--verbose']);
    expect(code).toBe(1);
    expect(err).toMatch(/^\s+at /m);
  });

  it('the program itself says so too, to its caller', async () => {
    const missing = await outboxProgram(['status', '--config', ORDERS_CONFIG], { env: { DATABASE_URL: empty.url } });
    expect(missing).toMatchObject({ code: 1, out: '', err: expect.stringContaining('are missing') });
    const wrong = await outboxProgram(['statsu']);
    expect(wrong).toMatchObject({ code: 2, out: '', err: expect.stringContaining("unknown command 'statsu'") });
  });

  it('what belongs to an outbox is not looked for where there is only an inbox', async () => {
    const file = join(directory, 'inbox.mjs');
    await writeFile(file, `export default { dataSource: { type: 'postgres' }, inbox: { allowUnsigned: true } };`);
    const { code, err } = await outbox(['status', '--config', file, '--url', empty.url]);
    expect([code, err]).toEqual([1, expect.stringContaining('has an inbox and no outbox')]);
  });

  it('somebody at the terminal is asked, and no means no', async () => {
    const args = ['dead-letters', 'discard', '--all', '--reason', 'a test'];
    const no = await outbox(args, { env: orders.env, answers: false });
    expect([no.code, no.out]).toEqual([1, '']);
    expect(no.err).toContain(
      'Discard 3 dead letters: they will never be delivered. Go on?\noutbox: Nothing was changed.',
    );
    const yes = await outbox(args, { env: orders.env, answers: true });
    expect([yes.code, yes.out]).toEqual([0, '3 dead letters discarded.\n']);
  });
});
