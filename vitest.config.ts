import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string): string => fileURLToPath(new URL(`./libs/${path}`, import.meta.url));

export default defineConfig({
  resolve: {
    // Tests run against the sources. The longer names come first: an alias also matches what begins with it.
    alias: [
      {
        find: /^nestjs-transactional-outbox\/(http|memory)$/,
        replacement: source('outbox/src/transports/$1/index.ts'),
      },
      { find: /^nestjs-transactional-outbox\/testing$/, replacement: source('outbox/src/testing/index.ts') },
      { find: /^nestjs-transactional-outbox$/, replacement: source('outbox/src/index.ts') },
      { find: /^order-events$/, replacement: source('order-events/src/index.ts') },
    ],
  },
  // The root tsconfig.json holds no files, so its decorator options do not reach the tests by themselves.
  oxc: { decorator: { legacy: true, emitDecoratorMetadata: true } },
  test: {
    include: ['test/**/*.spec.ts', 'libs/**/*.spec.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    setupFiles: ['test/support/setup.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', './test/support/closing-line-reporter.ts'],
    pool: 'forks',
    // Loading Nest and TypeORM for each file took longer than many a file's tests. A test that patches something global
    // puts it back.
    isolate: false,
    // More than cores: many tests wait for a lease, a poll or a process.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
