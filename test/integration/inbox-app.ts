import type { AddressInfo } from 'node:net';
import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import { IsInt, IsUUID, Min } from 'class-validator';
import { AggregateId, InboxModule, type InboxModuleOptions, OutboxEvent } from 'nestjs-transactional-outbox';
import { Webhook } from 'standardwebhooks';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { v7 } from 'uuid';

import { createTestDatabase, type TestDatabase } from '../support/database.js';

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
export const OTHER_SECRET = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';

export type Platform = 'express' | 'fastify';
export const PLATFORMS: readonly Platform[] = ['express', 'fastify'];

@OutboxEvent('order.placed', { aggregate: 'order' })
export class OrderPlaced {
  @AggregateId()
  @IsUUID()
  orderId: string;

  @IsInt()
  @Min(1)
  amountCents: number;
}

@OutboxEvent('order.paid', { aggregate: 'order' })
export class OrderPaid {
  @AggregateId()
  @IsUUID()
  orderId: string;
}

/** The effect that must happen once. */
@Entity('shipments')
export class Shipment {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  orderId: string;

  @Column({ default: 'shipping' })
  consumer: string;
}

export interface Message {
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
}

export function orderPlaced(amountCents = 100, id = v7()): Message {
  return { id, type: 'order.placed', data: { orderId: '0198c0de-0000-7000-8000-000000000001', amountCents } };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined when it is none. */
  readonly json: Record<string, unknown> | undefined;
}

export interface DeliverOptions {
  readonly path?: string;
  /** Null sends no signature. */
  readonly secret?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface InboxApp {
  readonly app: INestApplication;
  readonly url: string;
  readonly database: TestDatabase;
  readonly dataSource: DataSource;
  /** A structured CloudEvent, signed, as our own producer sends it. */
  deliver(message: Message, options?: DeliverOptions): Promise<Answer>;
  /** Any body with any headers. */
  post(path: string, body: string | Buffer | ReadableStream, headers: Record<string, string>): Promise<Answer>;
  /** Number of shipments, and of records, that are committed. */
  counts(): Promise<{ shipments: number; records: number }>;
  /** Empties both tables. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

export interface InboxAppOptions {
  readonly platform?: Platform;
  readonly controllers: NonNullable<ModuleMetadata['controllers']>;
  readonly providers?: ModuleMetadata['providers'];
  readonly imports?: ModuleMetadata['imports'];
  readonly inbox?: Partial<InboxModuleOptions>;
  /** No InboxModule at all. */
  readonly withoutInbox?: boolean;
  readonly database?: TestDatabase;
  readonly poolSize?: number;
  readonly rawBody?: boolean;
  /** False leaves application/cloudevents+json without a parser. */
  readonly bodyParser?: boolean;
  /** Called after the application is created and before it listens. */
  readonly prepare?: (app: INestApplication) => void;
}

export function inboxImports(
  database: TestDatabase,
  options: Partial<InboxAppOptions> = {},
): ModuleMetadata['imports'] {
  return [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: database.url,
      entities: [Shipment],
      synchronize: options.database === undefined,
      poolSize: options.poolSize ?? 10,
      retryAttempts: 0,
    }),
    TypeOrmModule.forFeature([Shipment]),
    ...(options.withoutInbox ? [] : [InboxModule.forRoot({ secret: SECRET, migrate: 'auto', ...options.inbox })]),
    ...(options.imports ?? []),
  ];
}

/** A real application that listens on a free port, set up as the guide says. */
export async function startInboxApp(options: InboxAppOptions): Promise<InboxApp> {
  const database = options.database ?? (await createTestDatabase());
  const builder = Test.createTestingModule({
    imports: inboxImports(database, options),
    controllers: options.controllers,
    providers: options.providers ?? [],
  });
  const module = await builder.compile();
  const app = createApplication(module, options);
  options.prepare?.(app);
  try {
    await app.listen(0, '127.0.0.1');
  } catch (error) {
    await app.close();
    throw error;
  }
  const { port } = app.getHttpServer().address() as AddressInfo; // it listens on TCP
  const url = `http://127.0.0.1:${port}`;
  const post = (path: string, body: string | Buffer | ReadableStream, headers: Record<string, string>) =>
    send(`${url}${path}`, body, headers);
  return {
    app,
    url,
    database,
    dataSource: app.get<DataSource>(getDataSourceToken()),
    post,
    deliver(message, { path = '/events', secret = SECRET, headers = {} } = {}) {
      const body = structured(message);
      return post(path, body, { ...cloudEventHeaders(message), ...signature(message.id, body, secret), ...headers });
    },
    async counts() {
      const [row] = await database.query<{ shipments: number; records: number }>(
        'select (select count(*)::int from shipments) as shipments, (select count(*)::int from processed_events) as records',
      );
      if (row === undefined) throw new Error('no row');
      return row;
    },
    async reset() {
      await database.query('truncate shipments, processed_events restart identity');
    },
    async close() {
      await app.close();
      if (options.database === undefined) await database.drop();
    },
  };
}

function createApplication(
  module: Awaited<ReturnType<ReturnType<typeof Test.createTestingModule>['compile']>>,
  { platform = 'express', rawBody = true, bodyParser = true }: InboxAppOptions,
): INestApplication {
  if (platform === 'fastify') {
    const app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), { rawBody, logger: false });
    if (bodyParser) app.useBodyParser('application/cloudevents+json', { bodyLimit: 2_097_152 });
    return app;
  }
  const app = module.createNestApplication<NestExpressApplication>(new ExpressAdapter(), { rawBody, logger: false });
  if (bodyParser) app.useBodyParser('json', { type: ['application/json', 'application/*+json'], limit: '2mb' });
  return app;
}

/** Collects what the application logs. */
export function captureLog(app: INestApplication): { readonly errors: string[]; readonly warnings: string[] } {
  const log = { errors: [] as string[], warnings: [] as string[] };
  app.useLogger({
    log: () => undefined,
    error: (line: unknown) => log.errors.push(String(line)),
    warn: (line: unknown) => log.warnings.push(String(line)),
  });
  return log;
}

export function structured(message: Message): string {
  return JSON.stringify({
    specversion: '1.0',
    source: '/orders',
    time: '2026-11-29T12:00:00.000Z',
    datacontenttype: 'application/json',
    ...message,
  });
}

export function cloudEventHeaders(message: Message): Record<string, string> {
  return { 'content-type': 'application/cloudevents+json; charset=UTF-8', 'webhook-id': message.id };
}

export function signature(
  id: string,
  body: string,
  secret: string | null = SECRET,
  at = new Date(),
): Record<string, string> {
  if (secret === null) return {};
  return {
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
}

async function send(
  url: string,
  body: string | Buffer | ReadableStream,
  headers: Record<string, string>,
): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body: Buffer.isBuffer(body) ? new Uint8Array(body) : body,
    ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: toJson(text) };
}

function toJson(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
