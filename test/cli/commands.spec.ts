import { DeadLetterService, OperationLogService } from 'nestjs-transactional-outbox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DeadOrders, startDeadOrders } from './dead-orders.js';
import { type CliResult, ORDERS_CONFIG, outbox, outboxHere } from './outbox-cli.js';

const BECAUSE = ['--by', 'ada', '--reason', 'the address was mended'];

describe('the program outbox', { timeout: 180_000 }, () => {
  let orders: DeadOrders;
  beforeEach(async () => {
    orders = await startDeadOrders();
  });
  afterEach(() => orders.app.close());

  const run = (...args: string[]): Promise<CliResult> => outboxHere(args, { env: orders.env });
  /** The program itself, with the configuration of the sample application. */
  const runProgram = (...args: string[]): Promise<CliResult> =>
    outbox([...args, '--config', ORDERS_CONFIG], { env: orders.env });
  const json = async (...args: string[]): Promise<unknown> => {
    const { out, err, code } = await run(...args, '--json');
    expect({ err, code: code === null }).toEqual({ err: '', code: false });
    return JSON.parse(out);
  };
  const deadIds = async (): Promise<string[]> =>
    (await orders.app.module.get(DeadLetterService).list()).map(({ id }) => id);

  it('status says what is wrong, and exits with 1 until it is mended', async () => {
    const { code, out } = await runProgram('status');
    expect(code).toBe(1);
    expect(out).toMatch(/^inventory +ok /m);
    expect(out).toMatch(/^shipping +dead letters +\d+ (seconds|ms) +1 +0 +0 +3 /m);
    await run('dead-letters', 'discard', '--all', ...BECAUSE, '--yes');
    await orders.app.database.query('delete from outbox_delivery');
    expect((await run('status')).code).toBe(0);
  });

  it('status calls an event late that is older than it may be', async () => {
    await run('dead-letters', 'discard', '--all', ...BECAUSE, '--yes');
    await orders.app.database.query(`update outbox_delivery set created_at = now() - interval '10 minutes'`);
    expect(await json('status')).toMatchObject({
      isWrong: true,
      destinations: [
        { destination: 'inventory', state: ['ok'] },
        { destination: 'shipping', state: ['late'], pending: 1 },
      ],
    });
    expect((await run('status', '--max-age', '1h')).code).toBe(0);
  });

  it('dead letters are listed and shown, with their payload only when it is asked for', async () => {
    const { out, code } = await run('dead-letters', 'list');
    expect(code).toBe(0);
    expect(out.match(/answered 422/g)).toHaveLength(3);
    expect(out).toContain('3 dead letters');
    expect(await json('dead-letters', 'list', '--limit', '1')).toMatchObject({ total: 3, deadLetters: [{}] });
    const [id = ''] = await deadIds();
    const shown = await run('dead-letters', 'show', id);
    expect(shown.out).toContain('attempt 1: answered 422');
    expect(shown.out).not.toContain('amountCents');
    expect((await run('dead-letters', 'show', id, '--payload')).out).toContain('amountCents');
  });

  it('a redrive is recorded with who and why, and sends again what was chosen', async () => {
    const [id = '', ...others] = await deadIds();
    expect(await json('dead-letters', 'redrive', id, ...BECAUSE, '--yes')).toEqual({ redriven: 1 });
    expect(await deadIds()).toEqual(others);
    expect(await json('operations')).toMatchObject({
      operations: [
        { by: 'ada', reason: 'the address was mended', action: 'redrive', details: { ids: [id] }, affected: 1 },
      ],
    });
  });

  it('who it was is known without being told', async () => {
    await run('dead-letters', 'redrive', '--all', '--reason', 'mended', '--yes');
    const [operation] = await orders.app.module.get(OperationLogService).list();
    expect(operation?.by).toMatch(/.+@.+/);
    expect(await deadIds()).toEqual([]);
  });

  it('a released aggregate goes on behind its dead letter, and no other does', async () => {
    expect((await run('keys', 'blocked')).out).toContain(orders.blockedOrder);
    const released = await json('keys', 'release', '--aggregate-id', orders.blockedOrder, ...BECAUSE, '--yes');
    expect(released).toEqual({ released: 1 });
    expect((await run('keys', 'blocked')).out).toBe('No aggregate is held back.\n');
  });

  it('a replay shows first what it would send, then sends it and says how far it is', async () => {
    const preview = await run('replay', '--destination', 'inventory', '--dry-run');
    expect(preview).toMatchObject({ code: 0, err: '' });
    expect(preview.out).toMatch(/^inventory +4 /m);
    const refused = await run('replay', '--destination', 'inventory', ...BECAUSE);
    expect(refused.code).toBe(2);
    expect(refused.err).toMatch(/^inventory +4 /m);
    expect(await json('operations')).toEqual({ operations: [] });
    const done = await runProgram('replay', '--destination', 'inventory', ...BECAUSE, '--yes', '--progress');
    expect(done).toMatchObject({ code: 0, out: '4 queued.\n', err: '4 of 4 queued\n' });
  });

  it('a paused destination is shown as such, and goes on when it is resumed', async () => {
    expect((await run('pause', 'inventory', ...BECAUSE, '--yes')).out).toBe('inventory is paused.\n');
    expect((await run('pause', 'inventory', ...BECAUSE, '--yes')).out).toBe('inventory was already paused.\n');
    expect((await run('status')).out).toMatch(/^inventory is paused since .+ by ada: the address was mended$/m);
    expect((await run('resume', 'inventory', ...BECAUSE, '--yes')).out).toBe('inventory goes on.\n');
  });

  it('retention removes what was delivered everywhere, and nothing else', async () => {
    const all = 'select count(*)::int as left from outbox_event';
    expect(await json('retention', 'run', '--older-than', '1d', '--yes')).toMatchObject({ events: 0 });
    await run('dead-letters', 'discard', '--all', ...BECAUSE, '--yes');
    expect(await json('retention', 'run', '--older-than', '0s', '--yes')).toMatchObject({ events: 3 });
    expect(await orders.app.database.query(all)).toEqual([{ left: 1 }]);
  });

  it('a dry run changes nothing, and needs no reason', async () => {
    const before = await deadIds();
    for (const command of ['redrive', 'discard']) {
      const { code, out } = await run('dead-letters', command, '--all', '--dry-run');
      expect([code, out]).toEqual([0, expect.stringMatching(/^Would do: /)]);
    }
    expect(await deadIds()).toEqual(before);
  });

  it('nothing is changed for nobody: without a terminal and without --yes every change is refused', async () => {
    const before = await deadIds();
    const changes = [
      ['dead-letters', 'redrive', '--all'],
      ['dead-letters', 'discard', '--all'],
      ['keys', 'release', '--all'],
      ['replay', '--all'],
      ['pause', 'inventory'],
      ['resume', 'inventory'],
    ].map((args) => [...args, ...BECAUSE]);
    for (const args of [...changes, ['retention', 'run', '--older-than', '0s']]) {
      const { code, out, err } = await run(...args);
      expect({ args, code, out }).toEqual({ args, code: 2, out: '' });
      expect(err).toContain('There is nobody to ask: say --yes to do it. Nothing was changed.');
    }
    expect(await deadIds()).toEqual(before);
    expect(await json('operations')).toEqual({ operations: [] });
  });
});
