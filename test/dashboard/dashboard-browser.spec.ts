import { randomUUID } from 'node:crypto';
import { InboxModule, OperationLogService } from 'nestjs-transactional-outbox';
import type { Browser, Page } from 'playwright-core';
import { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { mayLackChromium, startChromium } from '../support/chromium.js';
import { noted, step } from '../support/outbox-app.js';
import {
  card,
  confirm,
  focusedName,
  lookAgain,
  type OpenOptions,
  type OpenPage,
  openPage,
  pallidTexts,
  tabTo,
} from './browser-scene.js';
import { type DashboardApp, startDashboardApp } from './dashboard-app.js';

describe.skipIf(mayLackChromium)('the dashboard in Chromium', () => {
  let browser: Browser;
  let tab: Page;
  let app: DashboardApp;
  /** What this test has opened, oldest first. */
  let opened: OpenPage[] = [];

  beforeAll(async () => {
    [browser, app] = await Promise.all([
      startChromium(),
      startDashboardApp({
        imports: [InboxModule.forRoot({ allowUnsigned: true, migrate: 'auto' })],
        // The curves are drawn from what the tests do within a moment.
        dashboard: { sampleEveryMs: 200 },
      }),
    ]);
    tab = await browser.newPage();
  });
  beforeEach(async () => {
    await app.database.query(
      'truncate outbox_event, outbox_delivery, outbox_delivery_operation, processed_events_failed',
    );
    await app.database.query(
      "update outbox_destination set failures = 0, resume_at = 'epoch', last_error = null, paused_at = null",
    );
    await app.dispatcher.drain();
  });
  afterEach(async () => {
    const faults = opened.flatMap((one) => one.faults);
    opened = [];
    expect(faults).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  const open = async (options: OpenOptions = {}, from = app): Promise<Page> => {
    const page = await openPage(tab, from, options);
    opened.push(page);
    return tab;
  };
  const change = (set: string): Promise<unknown> => app.database.query(`update outbox_delivery ${set}`);
  const die = (): Promise<unknown> =>
    change("set status = 1, attempts = 4, last_error = 'HTTP 422: sku is not known', holds_key = lane is not null");
  const emitDead = async (...events: readonly object[]): Promise<string[]> => {
    const ids = await app.emit(...events);
    await die();
    return ids;
  };
  const operations = async (): Promise<object[]> => [...(await app.app.get(OperationLogService).list())];
  const states = async (): Promise<string[]> =>
    (await app.database.query<{ status: number }>('select status from outbox_delivery order by id')).map(
      ({ status }) => ['waiting', 'dead', 'done'][status] ?? '',
    );

  describe('tells within one look', () => {
    const old = (ms: number): string => `created_at = now() - interval '${ms} milliseconds'`;

    it.each([
      ['that events flow', 'Events flow', 'Healthy', async () => undefined],
      [
        'that a destination lags',
        'shipping lags behind',
        'Lagging',
        async () => change(`set ${old(90_000)}, attempts = 2, available_at = now() + interval '1 minute'`),
      ],
      [
        'that nobody takes the events',
        'Nothing moves to shipping',
        'Stopped',
        async () => change(`set ${old(75_000)}, available_at = now() - interval '75 seconds'`),
      ],
      [
        'that a destination is down',
        'shipping cannot be reached',
        'Unreachable',
        async () => app.database.query("update outbox_destination set failures = 3, last_error = 'ECONNREFUSED'"),
      ],
      [
        'that a destination is paused, by whom and why',
        'shipping is paused',
        'Paused',
        async () => app.post('destinations/pause', { destination: 'shipping', by: 'ben', reason: 'it moves' }),
      ],
    ])('%s', async (_, headline, word, arrange) => {
      await app.emit(noted(randomUUID()));
      await app.database.query("update outbox_destination set progressed_at = now() - interval '75 seconds'");
      await arrange();
      const page = await open();
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(headline);
      const text = (await card(page, 'shipping').textContent()) ?? '';
      expect(text).toContain(word);
      if (word === 'Paused') expect(text).toMatch(/by ben: it moves/);
      if (word === 'Unreachable') expect(text).toContain('3 probes in a row failed. ECONNREFUSED');
    });

    it('that dead letters wait, and does not call stopped what waits behind one', async () => {
      const order = randomUUID();
      await app.emit(step(order, 1), step(order, 2));
      await change(`set ${old(45_000)}, available_at = now() - interval '75 seconds'`);
      await app.database.query("update outbox_destination set progressed_at = now() - interval '75 seconds'");
      await change('set status = 1, holds_key = true where id = (select min(id) from outbox_delivery)');
      const page = await open();
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Events flow');
      expect(await page.locator('#summary').textContent()).toBe(
        '1 destination, healthy; 1 dead letter waits for a decision.',
      );
      expect(await card(page, 'shipping').getByText('Dead').locator('xpath=following-sibling::dd').textContent()).toBe(
        '1',
      );
    });

    it('how much flows, as a figure and a curve', async () => {
      const page = await open();
      await app.emit(...Array.from({ length: 40 }, () => noted(randomUUID())));
      await app.dispatcher.drain();
      await expect
        .poll(
          async () => {
            await lookAgain(page);
            return card(page, 'shipping')
              .getByRole('img', { name: /^Delivered: .*at most [1-9][\d.]*\/s$/ })
              .count();
          },
          { timeout: 15_000 },
        )
        .toBe(1);
      expect(await card(page, 'shipping').locator('path.line').last().getAttribute('d')).toMatch(/^M[\d. LMh]+$/);
    });
  });

  describe('does what the button says, and writes it down:', () => {
    it('redrives what is selected', async () => {
      await emitDead(noted(randomUUID()), noted(randomUUID()), noted(randomUUID()));
      const page = await open();
      for (const index of [0, 1])
        await page
          .getByRole('checkbox', { name: /^Select dead letter/ })
          .nth(index)
          .check();
      await page.getByRole('button', { name: 'Redrive selected (2)' }).click();
      await page.getByRole('dialog').getByText('2 dead letters').waitFor();
      expect(await states()).toEqual(['dead', 'dead', 'dead']);
      await confirm(page, 'Redrive');
      expect(await states()).toEqual(['waiting', 'waiting', 'dead']);
      await page.getByText('2 dead letters redriven.').waitFor();
      await expect.poll(() => page.getByRole('checkbox', { name: /^Select dead letter/ }).count()).toBe(1);
      expect(await operations()).toMatchObject([
        { action: 'redrive', by: 'anna', reason: 'the receiver was mended', affected: 2 },
      ]);
    });

    it('discards all that match a filter, no more than were shown', async () => {
      await emitDead(noted(randomUUID()), step(randomUUID(), 1), step(randomUUID(), 1));
      const page = await open();
      expect(await page.getByRole('button', { name: 'Discard all that match' }).isDisabled()).toBe(true);
      await page.locator('summary').click();
      await page.getByLabel('Event type').fill('order.step');
      await page.getByRole('button', { name: 'Filter' }).click();
      await page.getByRole('button', { name: 'Discard all that match' }).click();
      await page.getByRole('dialog').getByText('2 dead letters').waitFor();
      await app.emit(step(randomUUID(), 1));
      await die();
      await confirm(page, 'Discard', 'ordered by a test');
      expect(await states()).toEqual(['dead', 'dead']);
      expect(await operations()).toMatchObject([{ action: 'discard', reason: 'ordered by a test', affected: 2 }]);
    });

    it('shows a dead letter with its attempts, and redrives that one with a pace', async () => {
      await emitDead(noted(randomUUID()), noted(randomUUID()));
      await change(`set history = '[{"at":"2030-01-31T12:00:00Z","attempt":3,"error":"HTTP 500"}]'`);
      const page = await open();
      await page
        .getByRole('button', { name: /^Show dead letter/ })
        .first()
        .click();
      await page.getByRole('dialog').getByText('attempt 3 failed').waitFor();
      await page.getByRole('button', { name: 'Redrive …' }).click();
      await page.getByRole('dialog').getByText('1 dead letter').waitFor();
      await page.getByRole('dialog').getByLabel('Pace').selectOption('10 a second');
      await confirm(page, 'Redrive');
      expect(await states()).toEqual(['waiting', 'dead']);
      expect(await operations()).toMatchObject([{ action: 'redrive', details: { spacingMs: 100 }, affected: 1 }]);
    });

    it('releases a blocked aggregate', async () => {
      const order = randomUUID();
      await app.emit(step(order, 1), step(order, 2));
      await change('set status = 1, holds_key = true where id = (select min(id) from outbox_delivery)');
      const page = await open({ section: 'blocked-aggregates' });
      await page.getByRole('button', { name: `Release order ${order}` }).click();
      await confirm(page, 'Release');
      await page.getByText('No aggregate is blocked').waitFor();
      expect(await operations()).toMatchObject([{ action: 'release', affected: 1 }]);
      app.shipping.clear();
      await app.dispatcher.drain();
      expect(app.shipping.accepted).toHaveLength(1);
    });

    it('replays after a dry run', async () => {
      const ids = await app.emit(noted(randomUUID()), noted(randomUUID()));
      await app.dispatcher.drain();
      app.shipping.clear();
      const page = await open({ section: 'replay' });
      await page.getByRole('button', { name: 'Show what it would send' }).click();
      await page.getByText('Name at least one condition').waitFor();
      await page.getByLabel('Destination', { exact: true }).selectOption('shipping');
      await page.getByRole('button', { name: 'Show what it would send' }).click();
      await page.getByRole('button', { name: 'Replay 2 events' }).click();
      expect(await operations()).toEqual([]);
      await page.getByRole('dialog').getByText('2 events').waitFor();
      await confirm(page, 'Replay');
      await page.getByText('Replay done: 2 of 2 queued').waitFor();
      await app.dispatcher.drain();
      expect(app.shipping.accepted.map(({ envelope }) => envelope.id).sort()).toEqual([...ids].sort());
      expect(await operations()).toMatchObject([{ action: 'replay', by: 'anna', affected: 2 }]);
    });

    it('shows the changes by hand, with who and why', async () => {
      await app.post('destinations/pause', { destination: 'shipping', by: 'ben', reason: 'it moves' });
      const page = await open({ section: 'changes' });
      expect(await page.getByRole('row').nth(1).getByRole('cell').allTextContents()).toMatchObject([
        expect.any(String),
        'ben',
        'pause',
        'it moves',
        'destination: shipping',
        '1',
      ]);
    });

    it('drops a parked message of the inbox, and says why one cannot be redriven here', async () => {
      await app.database.query(
        `insert into processed_events_failed (consumer_name, message_id, event_type, last_error, parked_at, source, content_type, headers, body)
         values ('stock', 'm-1', 'order.placed', 'no such sku', now(), 'queue stock', 'application/json', '{}', 'secret body')`,
      );
      const page = await open({ section: 'inbox' });
      await page.getByRole('button', { name: /^Redrive parked message/ }).click();
      await page.getByLabel('Your name').fill('anna');
      await page.getByRole('textbox', { name: 'Reason' }).fill('mended');
      await page.getByRole('dialog').getByRole('button', { name: 'Redrive', exact: true }).click();
      await page.getByRole('alert').filter({ hasText: 'no handler' }).waitFor();
      await page.keyboard.press('Escape');
      expect(await page.content()).not.toContain('secret body');
      await page.getByRole('button', { name: /^Discard parked message/ }).click();
      await confirm(page, 'Discard');
      await page.getByText('No message is parked').waitFor();
      expect(await app.database.query('select 1 from processed_events_failed')).toEqual([]);
      // The refusal of the first one is told by the browser too.
      const [{ faults }] = opened as [OpenPage];
      expect(faults.splice(0)).toEqual([expect.stringContaining('400')]);
    });
  });

  it('can be used with the keyboard alone', async () => {
    const page = await open();
    await tabTo(page, 'Pause shipping');
    await page.keyboard.press('Enter');
    expect(await focusedName(page)).toBe('Your name');
    await page.keyboard.press('Escape');
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await focusedName(page)).toBe('Pause shipping');
    await page.keyboard.press('Enter');
    await page.keyboard.type('anna');
    await page.keyboard.press('Enter');
    expect(await page.getByRole('dialog').count(), 'nothing without a reason').toBe(1);
    await tabTo(page, 'Reason');
    await page.keyboard.type('the receiver moves');
    await tabTo(page, 'Pause');
    await page.keyboard.press('Space');
    await page.getByText('shipping is paused.').waitFor();
    expect(await operations()).toMatchObject([{ action: 'pause', by: 'anna', reason: 'the receiver moves' }]);
    expect(await focusedName(page)).toBe('Resume shipping');
    await tabTo(page, 'Changes by hand');
    await page.keyboard.press('Enter');
    await page.getByRole('table', { name: 'Changes by hand' }).waitFor();
    await tabTo(page, 'Resume shipping');
    await page.keyboard.press('Enter');
    await tabTo(page, 'Reason');
    await page.keyboard.type('it has moved');
    await tabTo(page, 'Resume');
    await page.keyboard.press('Enter');
    await page.getByText('shipping is resumed.').waitFor();
    expect(await operations()).toMatchObject([{ action: 'resume' }, { action: 'pause' }]);
  });

  it.each(['light', 'dark'] as const)('can be read in %s colours, wide and on a telephone', async (colorScheme) => {
    await emitDead(step(randomUUID(), 1), noted(randomUUID()));
    await app.database.query('update outbox_destination set failures = 3');
    for (const width of [1280, 390]) {
      const page = await open({ colorScheme, width });
      expect(await pallidTexts(page), `${width} px`).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${width} px`).toBe(true);
      const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      expect(ground).toBe(colorScheme === 'dark' ? 'rgb(17, 21, 27)' : 'rgb(244, 246, 249)');
      await page
        .getByRole('checkbox', { name: 'Select all on this page' })
        .or(page.getByRole('checkbox'))
        .last()
        .check();
      await page.getByRole('button', { name: /^Discard selected/ }).click();
      await page.getByRole('dialog').getByText('1 dead letter').waitFor();
      expect(await pallidTexts(page), `dialog, ${width} px`).toEqual([]);
    }
  });

  it('shows what a hostile event holds as text, whole, and runs nothing of it', async () => {
    const markup = `<img src=x onerror="alert(1)"><script>alert(2)</script>`;
    await emitDead(noted(randomUUID()));
    await app.database.query(
      `update outbox_event set type = $1::text, aggregatetype = $1::text, aggregateid = $1::text, payload = jsonb_build_object('text', $1::text), headers = jsonb_build_object('h', $1::text)`,
      [markup],
    );
    await app.database.query(
      `update outbox_delivery set last_error = $1::text, history = jsonb_build_array(jsonb_build_object('at', now(), 'attempt', 1, 'error', $1::text))`,
      [markup],
    );
    await app.database.query('update outbox_destination set failures = 1, last_error = $1', [markup]);
    await app.post('destinations/pause', { destination: 'shipping', by: markup, reason: markup });
    const page = await open();
    await page.getByText(`order ${markup}`).or(page.getByText(markup)).first().waitFor();
    await page.getByRole('button', { name: /^Show dead letter/ }).click();
    await page.getByRole('button', { name: 'Show payload' }).click();
    expect(JSON.parse((await page.getByLabel('Payload', { exact: true }).textContent()) ?? '')).toEqual({
      text: markup,
    });
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Changes by hand' }).click();
    await page.getByRole('cell', { name: markup }).first().waitFor();
    expect(await page.locator('body img, body script').count()).toBe(0);
  });

  it('asks nobody but the application, and for a payload only when somebody wants to see it', async () => {
    await emitDead(noted(randomUUID(), 4711));
    const page = await open();
    const [{ requests }] = opened as [OpenPage];
    await page.getByRole('button', { name: /^Show dead letter/ }).click();
    await page.getByRole('button', { name: 'Show payload' }).waitFor();
    expect(requests.filter((url) => url.endsWith('/payload'))).toEqual([]);
    expect(await page.content()).not.toContain('4711');
    await page.getByRole('button', { name: 'Show payload' }).click();
    await page.getByText('4711').waitFor();
    for (const section of ['blocked-aggregates', 'replay', 'inbox', 'changes']) {
      await page.evaluate(`location.hash = '${section}'`);
      await page.locator(`nav a[href="#${section}"][aria-current]`).waitFor();
    }
    expect(requests.length).toBeGreaterThan(20);
    expect(new Set(requests.map((url) => new URL(url).origin))).toEqual(new Set([new URL(app.url).origin]));
    expect(requests.every((url) => url.startsWith(app.url))).toBe(true);
  });

  it('reads one page of 100,000 dead letters at a time', async () => {
    await app.database.query(`with events as (
      insert into outbox_event (id, aggregatetype, aggregateid, type, payload, destinations)
      select gen_random_uuid(), 'order', n::text, 'order.noted', '{}', '{shipping}' from generate_series(1, 100000) n returning id)
      insert into outbox_delivery (event_id, destination, payload_bytes, status, last_error) select id, 'shipping', 2, 1, 'x' from events`);
    await app.database.query('analyze outbox_event, outbox_delivery');
    const query = vi.spyOn(app.app.get(DataSource), 'query');
    const page = await open();
    expect(await page.locator('nav .badge').first().textContent()).toBe('100,000');
    const shown = async (): Promise<number[]> =>
      (await page.getByRole('button', { name: /^Show dead letter/ }).allTextContents()).map(Number);
    const first = await shown();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('Page 2').waitFor();
    const second = await shown();
    await page.getByRole('button', { name: 'Previous' }).click();
    await page.getByText('Page 1', { exact: true }).waitFor();
    expect(await shown()).toEqual(first);
    expect([first.length, second.length]).toEqual([50, 50]);
    expect(Math.min(...second)).toBeGreaterThan(Math.max(...first));
    const lists = query.mock.results.filter((_, call) =>
      String(query.mock.calls[call]?.[0]).includes('order by d.id limit $8'),
    );
    const rows = await Promise.all(lists.map(async ({ value }) => ((await value) as unknown[]).length));
    query.mockRestore();
    expect(rows).toEqual([51, 51, 51]);
  });

  it('says that what it shows is old while the database does not answer', async () => {
    const page = await open();
    const query = vi.spyOn(app.app.get(DataSource), 'query').mockRejectedValue(new Error('gone'));
    await lookAgain(page);
    await page.getByRole('alert').filter({ hasText: 'The database does not answer.' }).waitFor();
    query.mockRestore();
    await lookAgain(page);
    await page.getByRole('alert').filter({ hasText: 'The database' }).waitFor({ state: 'hidden' });
    const [{ faults }] = opened as [OpenPage];
    for (const fault of faults.splice(0)) expect(fault).toContain('503');
  });

  it('works on Fastify, and below a prefix', async () => {
    const fastify = await startDashboardApp({
      platform: 'fastify',
      prefix: '/internal/api',
      prepare: (nest) => nest.setGlobalPrefix('internal/api'),
    });
    try {
      await fastify.emit(noted(randomUUID()));
      await fastify.database.query('update outbox_delivery set status = 1');
      const page = await open({}, fastify);
      await page.getByRole('checkbox', { name: /^Select dead letter/ }).check();
      await page.getByRole('button', { name: 'Redrive selected (1)' }).click();
      await confirm(page, 'Redrive');
      await fastify.dispatcher.drain();
      expect(fastify.shipping.accepted).toHaveLength(1);
    } finally {
      await fastify.close();
    }
  });
});
