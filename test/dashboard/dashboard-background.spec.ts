import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { OperationLogService } from 'nestjs-transactional-outbox';
import { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { noted } from '../support/outbox-app.js';
import { type DashboardApp, startDashboardApp } from './dashboard-app.js';

interface Sample {
  readonly atMs: number;
  readonly destinations: Record<string, [number | null, number]>;
}

interface Replay {
  readonly state: string;
  readonly queued: number;
  readonly total: number;
}

const CHANGE = { by: 'anna', reason: 'the consumer lost them' };

/** Flow is written down once a second. */
const soon = <Value>(look: () => Value) => expect.poll(look, { timeout: 10_000 });

describe('what the dashboard does between requests', () => {
  let app: DashboardApp;
  beforeAll(async () => {
    app = await startDashboardApp();
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => app.close());

  const read = async <Answer>(path: string): Promise<Answer> =>
    (await (await fetch(`${app.url}/api/${path}`)).json()) as Answer;
  const samplesSince = async (after: number): Promise<readonly Sample[]> =>
    (await read<{ samples: Sample[] }>(`history?after=${after}`)).samples;
  const replay = (): Promise<Replay | undefined> =>
    read<{ replay?: Replay }>('overview').then(({ replay: running }) => running);
  const start = (): Promise<Response> =>
    app.post('replay', { ...CHANGE, destination: 'shipping', atMost: 1000, perSecond: 10 });

  it('samples how much is delivered a second, and how old the oldest event is', async () => {
    await soon(() => samplesSince(0).then((samples) => samples.length)).toBeGreaterThan(0);
    await app.emit(...Array.from({ length: 30 }, () => noted(randomUUID())));
    await app.database.query("update outbox_delivery set created_at = now() - interval '7 seconds'");
    const ofShipping = async (): Promise<[number | null, number][]> =>
      (await samplesSince(0)).flatMap(({ destinations }) => (destinations.shipping ? [destinations.shipping] : []));
    await soon(() => ofShipping().then((all) => all.some(([, oldestMs]) => oldestMs > 6500))).toBe(true);
    await app.dispatcher.drain();
    await soon(() => ofShipping().then((all) => all.some(([perSecond]) => (perSecond ?? 0) > 0))).toBe(true);
    await soon(() => ofShipping().then((all) => all.at(-1)?.[1])).toBe(0);
  });

  it('answers only the samples after the last one that the page has', async () => {
    await soon(() => samplesSince(0).then((samples) => samples.length)).toBeGreaterThan(2);
    const [first, second] = await samplesSince(0);
    const later = await samplesSince(first?.atMs ?? 0);
    expect(later[0]).toEqual(second);
  });

  it('goes on sampling after the database was away, and leaves a gap', async () => {
    const query = vi.spyOn(app.app.get(DataSource), 'query').mockRejectedValue(new Error('gone'));
    const calls = (): number => query.mock.calls.length;
    await soon(calls).toBeGreaterThan(4);
    const before = (await samplesSince(0)).at(-1)?.atMs ?? 0;
    query.mockRestore();
    await soon(() => samplesSince(before).then((samples) => samples.length)).toBeGreaterThan(0);
  });

  it('lets one replay run at a time, tells how far it is, and stops it when it is told to', async () => {
    await app.emit(...Array.from({ length: 200 }, () => noted(randomUUID())));
    await app.dispatcher.drain();
    const answer = (await (await start()).json()) as { replay: Replay };
    expect(answer.replay).toMatchObject({ state: 'running', queued: 10, total: 230 });
    expect((await start()).status).toBe(409);
    expect((await app.post('replay/stop', {})).status).toBe(200);
    await soon(() => replay().then((running) => running?.state)).toBe('stopped');
    const queued = (await replay())?.queued ?? 0;
    expect(queued).toBeLessThan(230);
    expect(await app.app.get(OperationLogService).list()).toMatchObject([{ action: 'replay', affected: queued }]);
  });

  it('refuses a replay of more than was shown, and queues nothing', async () => {
    const before = await app.app.get(OperationLogService).list();
    const answer = await app.post('replay', { ...CHANGE, destination: 'shipping', atMost: 5, perSecond: 10 });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('more than 5 deliveries');
    expect(await app.app.get(OperationLogService).list()).toEqual(before);
  });

  it('ends with the application, also in the middle of a replay', async () => {
    const dying = await startDashboardApp();
    await dying.emit(...Array.from({ length: 50 }, () => noted(randomUUID())));
    await dying.dispatcher.drain();
    await dying.post('replay', { ...CHANGE, destination: 'shipping', atMost: 50, perSecond: 1 });
    const tooLong = new AbortController();
    const ended = dying.close().then(() => 'ended');
    expect(await Promise.race([ended, wait(10_000, 'still runs', { signal: tooLong.signal })])).toBe('ended');
    tooLong.abort(); // ends the timer; nobody waits for it any more
  });
});
