import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import library from './libs/outbox/package.json' with { type: 'json' };

const source = (path: string): string => fileURLToPath(new URL(`./libs/${path}`, import.meta.url));

/** Each subpath that the package exports, and the source that it is built from. */
const subpaths = Object.entries(library.exports).flatMap(([name, target]) =>
  name.startsWith('./') && typeof target === 'object' && name !== './package.json'
    ? {
        find: new RegExp(`^nestjs-transactional-outbox/${name.slice(2)}$`),
        replacement: source(`outbox/src/${target.default.replace(/^\.\/dist\/(.*)\.js$/, '$1.ts')}`),
      }
    : [],
);

const TESTS = ['test/**/*.spec.ts', 'libs/**/*.spec.ts'];
const NO_TESTS = ['**/node_modules/**', '**/dist/**'];
/** typeorm-transactional changes TypeORM's classes for good, so no other file may run in that process. */
const PATCHES_TYPEORM = 'test/conformance/emit-beside-other-libraries.spec.ts';

export default defineConfig({
  resolve: {
    // Tests run against the sources.
    alias: [
      ...subpaths,
      { find: /^nestjs-transactional-outbox\/testing$/, replacement: source('outbox/src/testing/index.ts') },
      { find: /^nestjs-transactional-outbox$/, replacement: source('outbox/src/index.ts') },
      { find: /^order-events$/, replacement: source('order-events/src/index.ts') },
    ],
  },
  // The root tsconfig.json holds no files, so its decorator options do not reach the tests by themselves.
  oxc: { decorator: { legacy: true, emitDecoratorMetadata: true } },
  test: {
    setupFiles: ['test/support/setup.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', './test/support/closing-line-reporter.ts'],
    pool: 'forks',
    // More than cores: many tests wait for a lease, a poll or a process.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      // Loading Nest and TypeORM for each file took longer than many a file's tests.
      {
        extends: true,
        test: { name: 'shared', isolate: false, include: TESTS, exclude: [...NO_TESTS, PATCHES_TYPEORM] },
      },
      { extends: true, test: { name: 'isolated', isolate: true, include: [PATCHES_TYPEORM] } },
    ],
  },
});
