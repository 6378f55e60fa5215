import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { type EmbeddedPostgres, startEmbeddedPostgres } from 'embedded-postgres-server';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { startChild } from './child-process.js';
import { eventually } from './eventually.js';

const owner = new URL('../processes/dist/embedded-postgres-owner.js', import.meta.url);

async function ask(url: string, sql: string): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const { rows } = await client.query<{ answer: string }>(sql);
    return rows[0]?.answer ?? '';
  } finally {
    await client.end();
  }
}

const dataDirectory = (url: string): Promise<string> => ask(url, `select current_setting('data_directory') as answer`);

/** Neither a process that listens nor a file of the server. */
async function expectNothingLeft(url: string, directory: string): Promise<void> {
  await expect(ask(url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await expect(readdir(directory)).rejects.toMatchObject({ code: 'ENOENT' });
  const [folder] = /embedded-postgres-\w+/.exec(directory) ?? [];
  expect(await readdir(tmpdir())).not.toContain(folder);
}

describe('startEmbeddedPostgres', () => {
  const servers: EmbeddedPostgres[] = [];
  const start = async (settings?: Record<string, string>): Promise<EmbeddedPostgres> => {
    const server = await startEmbeddedPostgres({ settings });
    servers.push(server);
    return server;
  };

  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });

  it('leaves neither process nor file after stop(), also when a client is connected', async () => {
    const server = await start();
    const directory = await dataDirectory(server.url);
    const client = new pg.Client(server.url);
    client.on('error', () => undefined); // the session is ended by the server, as it should
    await client.connect();

    await server.stop();

    await expectNothingLeft(server.url, directory);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('leaves nothing when its owner is ended by %s', async (signal) => {
    const child = startChild(owner);
    const url = (await child.waitForLine(/^url /)).slice('url '.length);
    const directory = await dataDirectory(url);

    await child.kill(signal);

    await eventually(() => expectNothingLeft(url, directory));
  });

  it('does not keep its owner alive, and leaves nothing when the owner just ends', async () => {
    const child = startChild(owner, { args: ['end-at-once'] });
    expect(await child.exited).toBe(0);
    const url = (await child.waitForLine(/^url /)).slice('url '.length);
    await eventually(() => expect(ask(url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' }));
  });

  it('starts several servers at once, each with its own data', async () => {
    const started = await Promise.all([start(), start(), start()]);
    const directories = await Promise.all(started.map(({ url }) => dataDirectory(url)));
    expect(new Set(directories).size).toBe(3);
  });

  it('takes further settings', async () => {
    const server = await start({ wal_level: 'logical' });
    expect(await ask(server.url, `select current_setting('wal_level') as answer`)).toBe('logical');
    expect(await ask(server.url, `select current_setting('max_connections') as answer`)).toBe('300');
  });

  it('says why when the server refuses to start', async () => {
    await expect(start({ wal_level: 'nonsense' })).rejects.toThrow(
      /did not start.*invalid value for parameter "wal_level"/s,
    );
  });
});
