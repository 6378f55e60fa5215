import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const CANDIDATES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const program = CANDIDATES.find((path) => path !== undefined && existsSync(path));

/** Whether tests may do without a browser: never where `CI` is set, so that nobody mistakes silence for success. */
export const mayLackChromium = program === undefined && !process.env.CI;

if (mayLackChromium) {
  console.warn('\nCHROMIUM IS NOT INSTALLED: tests with it are SKIPPED. Install it, or set CHROMIUM to its path.\n');
}

export async function startChromium(): Promise<Browser> {
  if (program === undefined) throw new Error('Chromium is not installed: `apt-get install chromium`, or set CHROMIUM.');
  return chromium.launch({
    executablePath: program,
    // As root, which CI is, it does not start with its sandbox. It loads nothing but the pages of these tests.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
}
