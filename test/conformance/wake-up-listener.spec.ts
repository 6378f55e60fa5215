import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  DataSourceClient,
  type SqlClient,
  WakeUpListener,
  type WakeUpListenerTimes,
} from '../../libs/outbox/src/store/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';

const CHANNEL = 'outbox_test';
const LISTENING = /outbox-listen/;
const SESSIONS = `select pid from pg_stat_activity
  where datname = current_database() and application_name like '%:outbox-listen'`;
const QUICK: WakeUpListenerTimes = {
  checkIntervalMs: 40,
  checkTimeoutMs: 500,
  reconnectBaseMs: 1,
  reconnectCapMs: 4,
  pooledRetryMs: 1,
};

/** Everything that a listener told. */
class Told {
  readonly woken: (string | undefined)[] = [];
  readonly listening: boolean[] = [];
  readonly lost: string[] = [];
  pooled = 0;
}

describe('a listener', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let dataSource: DataSource;
  const listeners: WakeUpListener[] = [];
  beforeEach(async () => {
    database = await createTestDatabase();
    proxy = await startTcpProxy(database.url);
    dataSource = await new DataSource({ type: 'postgres', url: proxy.through(database.url) }).initialize();
  });
  afterEach(async () => {
    await Promise.all(listeners.splice(0).map((listener) => listener.stop()));
    await dataSource.destroy();
    await proxy.close();
    await database.drop();
  });

  const listen = (
    times: Partial<WakeUpListenerTimes> = {},
    sender: SqlClient = new DataSourceClient(dataSource),
    random = (): number => 0.5,
  ): Told => {
    const told = new Told();
    const listener = new WakeUpListener(
      dataSource,
      CHANNEL,
      sender,
      {
        onWake: (payload) => told.woken.push(payload),
        onListening: (isListening) => told.listening.push(isListening),
        onLost: (error) => told.lost.push(String(error)),
        onPooled: () => {
          told.pooled += 1;
        },
      },
      { ...QUICK, ...times },
      random,
    );
    listeners.push(listener);
    listener.start();
    return told;
  };
  const isListening = (told: Told): Promise<void> => eventually(() => expect(told.listening.at(-1)).toBe(true));
  const notify = (payload: string): Promise<unknown> => database.query('select pg_notify($1, $2)', [CHANNEL, payload]);
  /** Sends probes, and counts them. */
  const counting = (): SqlClient & { sent: number } => {
    const client = new DataSourceClient(dataSource);
    return {
      sent: 0,
      query(text, values) {
        this.sent += 1;
        return client.query(text, values);
      },
    };
  };

  it('whose connection dies without a word replaces it, 20 times over, and leaves nothing behind', async () => {
    const warnings: unknown[] = [];
    const warn = (warning: unknown): number => warnings.push(warning);
    process.on('warning', warn);
    const told = listen();
    await isListening(told);
    const held = (): Record<string, number> => {
      const resources = process.getActiveResourcesInfo();
      return { sockets: resources.filter((kind) => kind === 'TCPSocketWrap').length };
    };
    let before = held();
    for (let round = 1; round <= 20; round += 1) {
      proxy.swallow(LISTENING);
      await notify('swallowed');
      await eventually(() => expect(told.listening).toHaveLength(1 + 2 * round));
      // It looks for what it missed, before it relies on what will come.
      expect(told.woken).toHaveLength(2 * round);
      expect(told.woken.at(-1)).toBeUndefined();
      const heard = `heard ${round}`;
      await notify(heard);
      await eventually(() => expect(told.woken.at(-1)).toBe(heard));
      if (round === 1) before = held();
    }
    expect(told.lost).toHaveLength(20);
    await eventually(() => expect(proxy.open(LISTENING)).toBe(1));
    await eventually(async () => expect(await database.query(SESSIONS)).toHaveLength(1));
    await eventually(() => expect(held()).toEqual(before));
    process.off('warning', warn);
    expect(warnings).toEqual([]);
  }, 60_000);

  it('does not take an answer for a notification: it replaces a connection that answers and delivers none', async () => {
    const told = listen();
    await isListening(told);
    proxy.swallowFrames('A'); // NotificationResponse
    await eventually(() => expect(told.lost).toHaveLength(1));
    expect(told.lost[0]).toContain('got no notification');
    await eventually(() => expect(proxy.knocks(LISTENING).length).toBeGreaterThan(3));
    expect(told.listening).toEqual([true, false]);
    proxy.swallowFrames(undefined);
    await isListening(told);
    await notify('again');
    await eventually(() => expect(told.woken).toContain('again'));
    expect(told.lost).toHaveLength(1);
    expect(told.pooled).toBe(0);
  });

  it('that cannot send a probe keeps a connection which answers, and believes nothing until one came in', async () => {
    const client = new DataSourceClient(dataSource);
    let isBroken = true;
    let refused = 0;
    const told = listen(
      {},
      {
        query: async (text, values) => {
          if (!isBroken) return client.query(text, values);
          refused += 1;
          throw new Error('the pool is exhausted');
        },
      },
    );
    await eventually(() => expect(refused).toBeGreaterThan(2));
    expect(told.listening).toEqual([]);
    expect(told.lost).toEqual([]);
    isBroken = false;
    await isListening(told);
    expect(proxy.knocks(LISTENING)).toHaveLength(1);
  });

  it('that cannot send a probe still replaces a connection which does not answer', async () => {
    const told = listen({}, { query: async () => Promise.reject(new Error('the pool is exhausted')) });
    await eventually(() => expect(told.woken).toEqual([undefined]));
    proxy.swallow(LISTENING);
    await eventually(() => expect(told.woken).toEqual([undefined, undefined]));
    expect(told.lost[0]).toContain('did not answer');
  });

  it('is not woken by probes, neither its own nor those of others, and one probes for all', async () => {
    const slow = counting();
    const quick = counting();
    const other = listen({ checkIntervalMs: 1000 }, slow);
    await isListening(other);
    const told = listen({ checkIntervalMs: 10 }, quick);
    await eventually(() => expect(quick.sent).toBeGreaterThan(300));
    expect(other.woken).toEqual([undefined]);
    expect(told.woken).toEqual([undefined]);
    expect(slow.sent).toBe(1);
    // What others send does not prove that its own probe came in, but that notifications do.
    expect(other.listening.every((isOn) => isOn)).toBe(true);
    expect(other.lost).toEqual([]);
  });

  it('looks for what was announced between its connect and its LISTEN', async () => {
    const listening = proxy.holdBack(/listen "/);
    const told = listen({ checkTimeoutMs: 5000 });
    await listening.held;
    await notify('into the gap');
    expect(told.woken).toEqual([]);
    listening.letGo();
    await isListening(told);
    expect(told.woken).toEqual([undefined]);
  });

  it.each([
    ['longest', 1, 1],
    ['shortest', 0, 0.5],
  ])('waits longer after each failure, up to a cap, with jitter (%s)', async (_, random, share) => {
    proxy.refuse(LISTENING);
    const told = listen({ reconnectBaseMs: 20, reconnectCapMs: 320 }, undefined, () => random);
    await eventually(() => expect(proxy.knocks(LISTENING).length).toBeGreaterThan(6));
    const at = proxy.knocks(LISTENING);
    const waits = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    const planned = [40, 80, 160, 320, 320, 320];
    // Not exactly, because it takes a moment to connect, and to be refused.
    for (const [index, ms] of planned.entries()) expect(waits[index]).toBeGreaterThan(ms * share - 2);
    const total = (each: readonly number[]): number => each.reduce((sum, ms) => sum + ms, 0);
    if (share < 1) expect(total(waits.slice(0, planned.length))).toBeLessThan(total(planned));
    expect(told.lost).toHaveLength(1);
    proxy.refuse(undefined);
    await isListening(told);
  });

  it.each([
    ['connects', /outbox-listen/],
    ['says LISTEN', /listen "/],
  ])('that is told to stop while it %s, and nobody answers, stops', async (_, packet) => {
    const reached = proxy.holdBack(packet);
    listen({ checkTimeoutMs: 60_000 });
    await reached.held;
    const [listener] = listeners.splice(0);
    await listener?.stop();
    await eventually(() => expect(proxy.open(LISTENING)).toBe(0));
    reached.letGo();
  });

  it('that is told to stop when the network is dead says no endless goodbye', async () => {
    await isListening(listen({ checkIntervalMs: 60_000 }));
    proxy.swallow(LISTENING, 'dead');
    const [listener] = listeners.splice(0);
    await listener?.stop();
  }, 10_000);

  it('that heard something right before its connection was lost does not believe that it still hears', async () => {
    const sender = counting();
    const told = listen({ checkIntervalMs: 100, reconnectBaseMs: 1000, reconnectCapMs: 1000 }, sender);
    await isListening(told);
    await notify('last');
    await eventually(() => expect(told.woken.at(-1)).toBe('last'));
    const sent = sender.sent;
    proxy.refuse(LISTENING);
    await eventually(() => expect(proxy.knocks(LISTENING).length).toBeGreaterThan(2));
    expect(told.listening).toEqual([true, false]);
    expect(sender.sent).toBe(sent);
  });

  it('whose DataSource is destroyed goes on trying, and listens when it is there again', async () => {
    const told = listen();
    await isListening(told);
    await dataSource.destroy();
    proxy.refuse(LISTENING); // ends the connection
    await eventually(() => expect(told.lost).toHaveLength(1));
    proxy.refuse(undefined);
    await dataSource.initialize();
    await isListening(told);
    expect(told.lost).toHaveLength(1);
  });

  it('of another channel hears nothing', async () => {
    const told = listen();
    await isListening(told);
    await database.query('select pg_notify($1, $2)', [`${CHANNEL}x`, randomUUID()]);
    await notify('mine');
    await eventually(() => expect(told.woken).toEqual([undefined, 'mine']));
  });
});
