import { wholeNumber } from '../../config/index.js';
import { ConfigurationError } from '../../errors/index.js';
import type { OutboxDashboardOptions, ResolvedDashboardOptions } from './dashboard-options.js';

const DAY_MS = 86_400_000;
const PATH = /^[\w~-][\w.~-]*(\/[\w~-][\w.~-]*)*$/;
const WITHOUT_GUARD: ReadonlySet<string | undefined> = new Set(['development', 'test']);

/** @throws ConfigurationError when the page would be open to everybody, or an option makes no sense. */
export function resolveDashboardOptions(options: OutboxDashboardOptions): ResolvedDashboardOptions {
  refuseWithoutGuard(options);
  const path = options.path?.replace(/^\/|\/$/g, '');
  if (typeof path !== 'string' || !PATH.test(path)) {
    throw new ConfigurationError(
      `the outbox dashboard got the path ${JSON.stringify(options.path)}. Give segments of letters, digits, "-", "_", "~" and ".", such as "outbox".`,
    );
  }
  return {
    path,
    operator: options.operator,
    allowedOrigins: (options.allowedOrigins ?? []).map(originOf),
    sampleEveryMs: wholeNumber('sampleEveryMs', options.sampleEveryMs, 5000, 100, 60_000),
    laggingAfterMs: wholeNumber('laggingAfterMs', options.laggingAfterMs, 60_000, 1000, DAY_MS),
    stalledAfterMs: wholeNumber('stalledAfterMs', options.stalledAfterMs, 60_000, 1000, DAY_MS),
  };
}

/** Nobody can tell later that a page was left open; so it is not there at all. */
function refuseWithoutGuard({ guards = [], path }: OutboxDashboardOptions): void {
  const environment = process.env.NODE_ENV;
  if (guards.length > 0 || WITHOUT_GUARD.has(environment)) return;
  throw new ConfigurationError(
    `the outbox dashboard at "${path}" has no guard, and NODE_ENV is ${environment === undefined ? 'not set' : JSON.stringify(environment)}: anybody could read payloads and drop events. Give OutboxDashboardModule.forRoot({ guards: [...] }), or set NODE_ENV=development on your own machine.`,
  );
}

function originOf(text: string): string {
  const origin = URL.canParse(text) ? new URL(text).origin : undefined;
  if (origin === text) return text;
  throw new ConfigurationError(
    `"allowedOrigins" has ${JSON.stringify(text)}, which is no origin. Write scheme and host only, such as "https://admin.example.com".`,
  );
}
