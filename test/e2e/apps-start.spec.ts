import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startChild } from '../support/child-process.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const program = (app: string): string => `${root}apps/${app}/dist/main.js`;
const installed = createRequire(import.meta.url);

/** All that the applications read; nothing of it may come from the environment of the test run. */
const UNSET = {
  ROLE: '',
  TRANSPORT: '',
  BROKER_URL: '',
  PLACE_PREFIX: '',
  SHIPPING_URL: '',
  INVENTORY_URL: '',
  WEBHOOK_SECRET: '',
  MIGRATIONS: '',
  PORT: '0',
};

describe('a sample application', { timeout: 120_000 }, () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => database.drop());

  const start = (app: string, env: Record<string, string> = {}): ReturnType<typeof startChild> =>
    startChild(program(app), { env: { ...UNSET, DATABASE_URL: database.url, ...env } });

  /** What it said before it ended with exit code 1: one line, or the expectation fails. */
  const refusal = async (app: string, env: Record<string, string>): Promise<string> => {
    const child = start(app, env);
    expect(await child.exited).toBe(1);
    expect(child.lines).toHaveLength(1);
    return child.lines[0] ?? '';
  };

  it.each(['orders', 'shipping'])('%s starts with `nest start` and nothing but a DATABASE_URL', async (app) => {
    const child = startChild(installed.resolve('@nestjs/cli/bin/nest.js'), {
      // A shell in between would keep the signal that ends the application to itself.
      args: ['start', app, '--no-shell'],
      env: { ...UNSET, DATABASE_URL: database.url },
    });
    expect(
      await child.waitForLine(new RegExp(`^${app}.* listens on http://127\\.0\\.0\\.1:\\d+$`), 60_000),
    ).toBeTruthy();
    await child.kill('SIGTERM');
  });

  it.each(['orders', 'shipping'])('%s may be started several times at once on an empty database', async (app) => {
    const children = [1, 2, 3, 4].map(() => start(app));
    await Promise.all(children.map((child) => child.waitForLine(/ listens on /)));
    await Promise.all(children.map((child) => child.kill('SIGTERM')));
    const migrated = await database.query<{ name: string; times: number }>(
      'select name, count(*)::int as times from migrations group by name',
    );
    expect(migrated.length).toBeGreaterThan(1);
    expect(migrated.filter(({ times }) => times !== 1)).toEqual([]);
  });

  it.each(['orders', 'shipping'])('%s says what to run when the tables are missing, and that helps', async (app) => {
    const said = await refusal(app, { MIGRATIONS: 'skip' });
    expect(said).toMatch(new RegExp(`^${app}: the (outbox|inbox) tables in schema "public" are missing\\.`));
    const command = /`npx typeorm ([^`]+)`\.$/.exec(said)?.[1];
    const typeorm = startChild(installed.resolve('typeorm/cli.js'), {
      args: command?.split(' ').map((word) => (word.startsWith('apps/') ? `${root}${word}` : word)),
      env: { ...UNSET, DATABASE_URL: database.url },
    });
    expect(await typeorm.exited).toBe(0);
    const child = start(app, { MIGRATIONS: 'skip' });
    await child.waitForLine(/ listens on /);
    await child.kill('SIGTERM');
  });

  it.each(['orders', 'shipping'])('%s says what to do when its database cannot be used', async (app) => {
    expect(await refusal(app, { DATABASE_URL: '' })).toMatch(/DATABASE_URL must name a PostgreSQL database/);
    expect(await refusal(app, { DATABASE_URL: 'postgres://me:hush@127.0.0.1:1/orders' })).toBe(
      `${app}: PostgreSQL does not answer at 127.0.0.1:1: start it, or correct DATABASE_URL (\`pg_isready -h 127.0.0.1 -p 1\` tells when it does).`,
    );
    const unknown = `${database.url}_unknown`;
    expect(await refusal(app, { DATABASE_URL: unknown })).toMatch(/does not exist at .*: create it with `createdb /);
    const { username, password } = new URL(database.url);
    const said = await refusal(app, { DATABASE_URL: database.url.replace(`${username}:${password}@`, 'nobody:hush@') });
    expect(said).toMatch(/does not let the user "nobody" in/);
    expect(said).not.toContain('hush');
  });

  it('orders refuses a destination that cannot be served, and names the variable or the option', async () => {
    expect(await refusal('orders', { SHIPPING_URL: 'ftp://127.0.0.1/' })).toBe(
      'orders: SHIPPING_URL must be an http or https URL.',
    );
    expect(await refusal('orders', { INVENTORY_URL: 'http://me:hush@127.0.0.1/' })).toMatch(
      /^orders: HttpTransport: the URL is refused: it contains credentials\. Put them into the option "headers"\.$/,
    );
    expect(await refusal('orders', { WEBHOOK_SECRET: 'short' })).toMatch(/secret 1 is not 24 to 64 bytes/);
    expect(await refusal('shipping', { WEBHOOK_SECRET: 'short' })).toMatch(/secret 1 is not 24 to 64 bytes/);
  });

  it('refuses a variable that makes no sense, and asks for a secret of its own in production', async () => {
    expect(await refusal('orders', { ROLE: 'worker', PORT: '70000' })).toBe(
      'orders: ROLE must be api, dispatcher or both. PORT must be a whole number from 0 (any free port) to 65535.',
    );
    expect(await refusal('orders', { NODE_ENV: 'production' })).toMatch(/WEBHOOK_SECRET must be set in production/);
    expect(await refusal('shipping', { NODE_ENV: 'production' })).toMatch(/WEBHOOK_SECRET must be set in production/);
  });

  it('refuses a transport that it does not know, and a broker that is none of this transport', async () => {
    expect(await refusal('orders', { TRANSPORT: 'pigeon', BROKER_URL: 'pigeon://loft' })).toBe(
      'orders: TRANSPORT must be one of http, redis, rabbitmq, kafka, nats, sqs, in-process.',
    );
    expect(await refusal('shipping', { TRANSPORT: 'in-process' })).toBe(
      'shipping: TRANSPORT must be one of http, redis, rabbitmq, kafka, nats, sqs.',
    );
    expect(await refusal('shipping', { TRANSPORT: 'redis', BROKER_URL: 'amqp://127.0.0.1' })).toBe(
      'shipping: BROKER_URL must begin with redis:// or rediss://, because TRANSPORT is redis.',
    );
    expect(await refusal('orders', { TRANSPORT: 'sqs', PLACE_PREFIX: 'a b' })).toMatch(
      /^orders: BROKER_URL must be the URL of the queues .* PLACE_PREFIX must be 1 to 40 letters/,
    );
  });

  it('says that its port is taken', async () => {
    const first = start('shipping');
    const port = (await first.waitForLine(/ listens on /)).split(':').at(-1) ?? '';
    expect(await refusal('shipping', { PORT: port })).toMatch(/^shipping: the port is taken/);
    await first.kill('SIGTERM');
  });
});
