import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { DashboardApp } from './dashboard-app.js';

/** A page with everything that it asked for, and whatever went wrong in it. */
export interface OpenPage {
  readonly page: Page;
  readonly requests: readonly string[];
  readonly faults: string[];
}

export interface OpenOptions {
  readonly colorScheme?: 'light' | 'dark';
  readonly width?: number;
  /** Behind `#`. */
  readonly section?: string;
}

/** Opens the dashboard in a page that is used again and again: a new one takes a process, and half a second. */
export async function openPage(page: Page, app: DashboardApp, options: OpenOptions = {}): Promise<OpenPage> {
  const { colorScheme = 'light', width = 1280, section = '' } = options;
  const requests: string[] = [];
  const faults: string[] = [];
  // Leaves the page before, of which nothing may be kept, and ends its listeners.
  await page.goto('about:blank');
  page.removeAllListeners();
  page.setDefaultTimeout(15_000);
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height: 900 });
  page.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('dialog', (dialog) => {
    faults.push(`the page called ${dialog.type()}()`);
    dialog.dismiss().catch(() => undefined); // it went with its page
  });
  await page.goto(`${app.url}#${section}`);
  await page.locator('body[data-ready]').waitFor();
  return { page, requests, faults };
}

/** Makes the page look again now, as it does when somebody comes back to its tab, and not only every five seconds. */
export function lookAgain(page: Page): Promise<unknown> {
  return page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
}

/** Fills in who and why in the dialog that is open, and confirms. */
export async function confirm(page: Page, verb: string, reason = 'the receiver was mended'): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Your name').fill('anna');
  await dialog.getByRole('textbox', { name: 'Reason' }).fill(reason);
  await dialog.getByRole('button', { name: verb, exact: true }).click();
  await dialog.waitFor({ state: 'hidden' });
}

export const card = (page: Page, name: string): Locator => page.getByRole('article', { name: `Destination ${name}` });

/** Presses Tab until the element with this name has the focus. */
export async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab');
    if ((await focusedName(page)) === name) return;
  }
  expect.fail(`Tab never came to "${name}"`);
}

export function focusedName(page: Page): Promise<string> {
  return page.evaluate(
    `(({ activeElement: at }) => at.getAttribute('aria-label') ?? at.labels?.[0]?.textContent ?? at.textContent)(document)`,
  );
}

/** Texts that stand out from what is behind them by less than WCAG's AA asks for: 4.5, or 3 for large ones. */
export function pallidTexts(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const parse = (color) => color.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
      .reduce((sum, c, index) => sum + c * [0.2126, 0.7152, 0.0722][index], 0);
    const behind = (element) => {
      for (let at = element; at !== null; at = at.parentElement) {
        const color = parse(getComputedStyle(at).backgroundColor);
        if (color.length === 3 || color[3] === 1) return color;
      }
      return [255, 255, 255];
    };
    const pallid = [];
    for (const element of document.querySelectorAll('body *')) {
      const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== '');
      if (!hasText || element.closest(':disabled, noscript, .hidden') || !element.checkVisibility()) continue;
      const style = getComputedStyle(element);
      const [one, other] = [light(parse(style.color)), light(behind(element))];
      const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
      const size = parseFloat(style.fontSize);
      const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      if (contrast < (isLarge ? 3 : 4.5)) pallid.push(element.textContent.trim().slice(0, 40) + ' ' + contrast.toFixed(2));
    }
    return pallid;
  })()`);
}
