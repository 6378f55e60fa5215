import { describe, expect, it } from 'vitest';
import { brokenRules, cruiseSources, describeViolations, repositoryRoot, ruleNames } from './cruise.js';
import { type Sources, withPlantedTree } from './planted-tree.js';

/** Fewer modules mean that the sources were not read, and then no rule can be broken. */
const MINIMUM_MODULES = 100;

const importing = (...specifiers: string[]): string => specifiers.map((name) => `import '${name}';\n`).join('');

/** One violation per rule, and nothing else wrong with it. */
const PLANTED: Readonly<Record<string, Sources>> = {
  'room-errors': { 'errors/planted.ts': importing('../runtime/index.js') },
  'room-runtime': { 'runtime/planted.ts': importing('../event/index.js') },
  'room-transaction': { 'transaction/planted.ts': importing('../runtime/index.js') },
  'room-telemetry': { 'telemetry/planted.ts': importing('../store/index.js') },
  'room-event': { 'event/planted.ts': importing('../transaction/index.js') },
  'room-transports': { 'transports/planted.ts': importing('../store/index.js') },
  'room-config': { 'config/planted.ts': importing('../store/index.js') },
  'room-store': { 'store/planted.ts': importing('../transports/index.js') },
  'room-emit': { 'emit/planted.ts': importing('../dispatch/index.js') },
  'room-inbox': { 'inbox/planted.ts': importing('../transports/index.js') },
  'room-dispatch': { 'dispatch/planted.ts': importing('../transaction/index.js') },
  'room-ops': { 'ops/planted.ts': importing('../dispatch/index.js') },
  'room-cli': { 'cli/planted.ts': importing('../dispatch/index.js') },
  'room-testing': { 'testing/planted.ts': importing('../ops/index.js') },
  'optional-client-only-in-its-transport-http': { 'transports/kafka/index.ts': importing('undici') },
  'optional-client-only-in-its-transport-kafka': { 'transports/http/planted.ts': importing('kafkajs') },
  'optional-client-only-in-its-transport-rabbitmq': { 'dispatch/planted.ts': importing('amqplib') },
  'optional-client-only-in-its-transport-redis-streams': { 'config/planted.ts': importing('ioredis') },
  'optional-client-only-in-its-transport-nats': { 'inbox/planted.ts': importing('@nats-io/jetstream') },
  'optional-client-only-in-its-transport-sqs': {
    'index.ts': `import type { SQSClient } from '@aws-sdk/client-sqs';\nexport type Client = SQSClient;\n`,
  },
  'optional-client-only-in-ops-health': { 'ops/planted.ts': importing('@nestjs/terminus') },
  'known-rooms-only': { 'utilities/planted.ts': importing('../errors/index.js') },
  'no-circular': { 'event/one.ts': importing('./two.js'), 'event/two.ts': importing('./one.js') },
  'no-deep-import-of-another-room': {
    'store/sql/claim.sql.ts': 'export const sql = 1;\n',
    'dispatch/planted.ts': importing('../store/sql/claim.sql.js'),
  },
  'root-entry-imports-no-transport-folder': {
    'inbox.module.ts': importing('./transports/index.js'),
    'transports/index.ts': importing('./http/index.js'),
  },
  'root-entry-loads-no-argument-parser': {
    'index.ts': importing('./cli/index.js'),
    'cli/index.ts': importing('./program.js'),
    'cli/program.ts': importing('commander'),
  },
  'root-entry-imports-no-dashboard': {
    'outbox.module.ts': importing('./ops/index.js'),
    'ops/index.ts': importing('./dashboard/index.js'),
    'ops/dashboard/index.ts': 'export const page = 1;\n',
  },
  'only-declared-packages': { 'store/planted.ts': importing('undeclared-package') },
};

describe('dependency table', () => {
  it('is kept by the library', async () => {
    const result = await cruiseSources(repositoryRoot);
    expect(describeViolations(result)).toEqual([]);
    const own = result.modules.filter(({ source }) => source.startsWith('libs/outbox/src/'));
    expect(own.length).toBeGreaterThan(MINIMUM_MODULES);
  });

  it('finds nothing wrong with a tree that keeps it', async () => {
    const allowed: Sources = {
      'index.ts': importing('./emit/index.js', './ops/index.js', './transports/index.js'),
      'transports/transport.ts': 'export const port = 1;\n',
      'transports/http/planted.ts': importing('undici', '../transport.js', '../../event/index.js'),
      'transports/rabbitmq/index.ts': importing('amqplib', 'amqp-connection-manager'),
      'store/sql/claim.sql.ts': 'export const sql = 1;\n',
      'store/planted.ts': importing('./sql/claim.sql.js', '../transaction/index.js', 'node:crypto'),
      'testing/planted.ts': importing('../transports/memory/index.js', '../dispatch/index.js'),
      'cli/main.ts': importing('commander', '../ops/index.js', '../inbox/index.js'),
    };
    expect(describeViolations(await withPlantedTree(allowed, cruiseSources))).toEqual([]);
  });

  it.each(Object.entries(PLANTED))('%s is seen red', async (rule, planted) => {
    expect(brokenRules(await withPlantedTree(planted, cruiseSources))).toEqual([rule]);
  });

  it('has no rule without a planted violation', async () => {
    const rules = ruleNames(await withPlantedTree({}, cruiseSources));
    expect(rules.toSorted()).toEqual(Object.keys(PLANTED).toSorted());
  });

  it.each(['amqp-connection-manager', '@nats-io/transport-node'])('%s counts as a client too', async (client) => {
    const planted = { 'store/planted.ts': importing(client) };
    const broken = brokenRules(await withPlantedTree(planted, cruiseSources));
    expect(broken).toContainEqual(expect.stringMatching(/^optional-client-only-in-its-transport-/));
  });
});
