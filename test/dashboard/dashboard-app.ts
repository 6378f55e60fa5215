import type { AddressInfo } from 'node:net';
import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OutboxDispatcher, OutboxModule, type OutboxModuleOptions, OutboxService } from 'nestjs-transactional-outbox';
import { OutboxDashboardModule, type OutboxDashboardOptions } from 'nestjs-transactional-outbox/dashboard';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { Order, OrderNoted, OrderStep, SkippableStep } from '../support/outbox-app.js';

export type Platform = 'express' | 'fastify';
export const PLATFORMS: readonly Platform[] = ['express', 'fastify'];

export interface DashboardApp {
  readonly app: INestApplication;
  readonly database: TestDatabase;
  readonly outbox: OutboxService;
  readonly dispatcher: OutboxDispatcher;
  /** Of the page, without a slash at its end. */
  readonly url: string;
  /** The transport of the destination `shipping`. */
  readonly shipping: MemoryTransport;
  emit(...events: readonly object[]): Promise<string[]>;
  /** A change, as the page asks for it. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  close(): Promise<void>;
}

export interface DashboardAppOptions {
  readonly platform?: Platform;
  readonly dashboard?: Partial<OutboxDashboardOptions>;
  readonly destinations?: OutboxModuleOptions['destinations'];
  readonly imports?: ModuleMetadata['imports'];
  readonly providers?: ModuleMetadata['providers'];
  /** Called after the application is created and before it listens. */
  readonly prepare?: (app: INestApplication) => void;
  /** What stands before `outbox` in the address; default nothing. */
  readonly prefix?: string;
}

/** A real application with an outbox and its page, which listens on a free port and dispatches when it is asked to. */
export async function startDashboardApp(options: DashboardAppOptions = {}): Promise<DashboardApp> {
  const database = await createTestDatabase();
  const shipping = new MemoryTransport();
  const destinations = { shipping: { transport: shipping }, ...options.destinations };
  const module = await Test.createTestingModule({
    imports: [
      TypeOrmModule.forRoot({
        type: 'postgres',
        url: database.url,
        entities: [Order],
        synchronize: true,
        retryAttempts: 0,
      }),
      OutboxModule.forRoot({
        destinations,
        routes: [{ events: [OrderNoted, OrderStep, SkippableStep], to: Object.keys(destinations) }],
        migrate: 'auto',
        dispatcher: { schedule: false },
      }),
      ...(options.imports ?? []),
      OutboxDashboardModule.forRoot({ path: 'outbox', sampleEveryMs: 100, ...options.dashboard }),
    ],
    providers: options.providers ?? [],
  }).compile();
  const app = module.createNestApplication(
    options.platform === 'fastify' ? new FastifyAdapter() : new ExpressAdapter(),
    { logger: false },
  );
  options.prepare?.(app);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo; // it listens on TCP
  const url = `http://127.0.0.1:${port}${options.prefix ?? ''}/outbox`;
  const outbox = app.get(OutboxService);
  return {
    app,
    database,
    outbox,
    dispatcher: app.get(OutboxDispatcher),
    url,
    shipping,
    emit: (...events) => outbox.transaction(() => outbox.emit(events)),
    post: (path, body, headers = {}) =>
      fetch(`${url}/api/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-outbox-dashboard': '1', ...headers },
        body: JSON.stringify(body),
      }),
    async close() {
      await app.close();
      await database.drop();
    },
  };
}
