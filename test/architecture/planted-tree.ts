import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** File names below libs/outbox/src, with their content. */
export type Sources = Readonly<Record<string, string>>;

const ROOMS =
  'errors runtime transaction event telemetry transports config store emit inbox dispatch ops cli testing transports/http transports/memory';

const CLIENTS =
  'undici kafkajs amqplib amqp-connection-manager ioredis @nats-io/jetstream @aws-sdk/client-sqs @nestjs/terminus commander';

/** The house without furniture: every room has an index, the root entry is there, and the packages can be found. */
const EMPTY_HOUSE: Sources = {
  'index.ts': `export * from './event/index.js';\n`,
  'outbox.module.ts': `export * from './emit/index.js';\n`,
  ...Object.fromEntries(ROOMS.split(' ').map((room) => [`${room}/index.ts`, 'export const room = 1;\n'])),
};

/** Writes a small copy of the library with `planted` in it, hands its root to `look`, and removes it. */
export async function withPlantedTree<Result>(
  planted: Sources,
  look: (root: string) => Promise<Result>,
): Promise<Result> {
  const root = await mkdtemp(join(tmpdir(), 'planted-tree-'));
  const write = async (path: string, content: string): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  };
  try {
    const declared = Object.fromEntries(CLIENTS.split(' ').map((name) => [name, '*']));
    await write('libs/outbox/package.json', JSON.stringify({ name: 'planted', dependencies: declared }));
    for (const name of [...CLIENTS.split(' '), 'undeclared-package']) {
      await write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'index.js' }));
      await write(`node_modules/${name}/index.js`, '');
    }
    for (const [path, content] of Object.entries({ ...EMPTY_HOUSE, ...planted })) {
      await write(`libs/outbox/src/${path}`, content);
    }
    return await look(root);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}
