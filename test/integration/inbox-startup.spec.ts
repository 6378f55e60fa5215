import {
  Controller,
  Get,
  Injectable,
  Module,
  Next,
  Post,
  Redirect,
  Render,
  Req,
  Res,
  Scope,
  Sse,
  type Type,
  UseGuards,
} from '@nestjs/common';
import { LazyModuleLoader, ModuleRef } from '@nestjs/core';
import { EventPattern, Transport } from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import {
  ConfigurationError,
  Inbox,
  InboxConsumer,
  InboxEnvelope,
  InboxEvent,
  InboxGuard,
  InboxModule,
  type InboxModuleOptions,
  type InboxOptionsFactory,
  InboxService,
  InboxTransaction,
  InjectInbox,
  SchemaVersionError,
} from 'nestjs-transactional-outbox';
import { NEVER, type Observable } from 'rxjs';
import { Repository } from 'typeorm';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { resolveInboxOptions } from '../../libs/outbox/src/inbox/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import {
  captureLog,
  type InboxApp,
  type InboxAppOptions,
  inboxImports,
  OrderPaid,
  OrderPlaced,
  orderPlaced,
  SECRET,
  Shipment,
  startInboxApp,
} from './inbox-app.js';

@Controller()
class ShippingController {
  constructor(@InjectRepository(Shipment) private readonly shipments: Repository<Shipment>) {}

  @Post('events')
  @UseGuards(InboxGuard)
  @InboxConsumer('shipping')
  async onOrderPlaced(@InboxEvent(OrderPlaced) event: OrderPlaced): Promise<void> {
    await this.shipments.save({ orderId: event.orderId });
  }
}

/** Every application of this file is closed, whether it started or not. */
describe('An application with an inbox', () => {
  let database: TestDatabase;
  const apps: InboxApp[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    await database.query(
      'create table shipments (id serial primary key, "orderId" varchar not null, consumer varchar not null default \'shipping\')',
    );
  });

  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
  });

  afterAll(() => database.drop());

  async function start(options: Partial<InboxAppOptions> = {}): Promise<InboxApp> {
    const app = await startInboxApp({ controllers: [ShippingController], database, ...options });
    apps.push(app);
    return app;
  }

  async function refusalOf(...controllers: Type[]): Promise<string> {
    const refusal = await start({ controllers }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ConfigurationError);
    return (refusal as ConfigurationError).message;
  }

  async function delivers(app: InboxApp, path = '/events'): Promise<void> {
    await app.reset();
    const message = orderPlaced();
    const [first, second] = [await app.deliver(message, { path }), await app.deliver(message, { path })];
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(await app.counts()).toEqual({ shipments: 1, records: 1 });
  }

  describe('is refused at start', () => {
    it('when a guarded handler has no consumer name', async () => {
      @Controller()
      class Nameless {
        @Post('events')
        @UseGuards(InboxGuard)
        handle(): void {
          return;
        }
      }
      expect(await refusalOf(Nameless)).toMatch(/Nameless.handle is guarded by InboxGuard, but has no consumer name/);
    });

    it('when a handler has a consumer name or asks for a message, but is not guarded', async () => {
      @Controller()
      class Unguarded {
        @Post('events')
        @InboxConsumer('shipping')
        handle(): void {
          return;
        }
      }
      @Controller()
      class Asking {
        @Post('events')
        handle(@InboxEnvelope() _: unknown): void {
          return;
        }
      }
      @InboxConsumer('shipping')
      @Controller()
      class NamedClass {
        @Post('events')
        handle(): void {
          return;
        }
      }
      expect(await refusalOf(Unguarded)).toMatch(/Unguarded.handle is a handler of the inbox, but InboxGuard/);
      expect(await refusalOf(Asking)).toMatch(/Asking.handle is a handler of the inbox, but InboxGuard/);
      expect(await refusalOf(NamedClass)).toMatch(/NamedClass carries @InboxConsumer, but InboxGuard guards none/);
    });

    it('when two handlers are the same consumer of the same event type', async () => {
      @Controller()
      class Twins {
        @Post('one')
        @Inbox('shipping')
        one(@InboxEvent(OrderPlaced) _: OrderPlaced): void {
          return;
        }

        @Post('two')
        @Inbox('shipping')
        two(@InboxEvent(OrderPaid, OrderPlaced) _: unknown): void {
          return;
        }
      }
      @Controller()
      class Greedy {
        @Post('three')
        @Inbox('shipping')
        three(@InboxEnvelope() _: unknown): void {
          return;
        }
      }
      expect(await refusalOf(Twins)).toMatch(/Twins.one and Twins.two are both consumer "shipping"/);
      expect(await refusalOf(ShippingController, Greedy)).toMatch(/onOrderPlaced and Greedy.three are both consumer/);
    });

    it('when two handlers take one pattern, and only one of them says from which transport', async () => {
      @Controller()
      class Halves {
        @EventPattern('order.placed')
        @Inbox('anywhere')
        anywhere(@InboxEvent(OrderPlaced) _: OrderPlaced): void {
          return;
        }

        @EventPattern('order.placed', Transport.KAFKA)
        @Inbox('from-kafka')
        fromKafka(@InboxEvent(OrderPlaced) _: OrderPlaced): void {
          return;
        }
      }
      expect(await refusalOf(Halves)).toMatch(
        /^Halves.anywhere and Halves.fromKafka both take the pattern "order.placed", and only one of them names its/,
      );
    });

    it.each<[string, MethodDecorator, string]>([
      ['@Redirect', Redirect('/elsewhere'), '@Redirect'],
      ['@Render', Render('page'), '@Render'],
    ])('when a handler answers by itself with %s', async (_, decorator, reason) => {
      @Controller()
      class Early {
        @Post('events')
        @Inbox('early')
        @(decorator as MethodDecorator)
        handle(): void {
          return;
        }
      }
      expect(await refusalOf(Early)).toContain(`Early.handle uses ${reason}, so it would answer before the commit`);
    });

    it('when a handler answers by itself with @Sse, @Res or @Next', async () => {
      @Controller()
      class Stream {
        @Sse('events')
        @Inbox('early')
        handle(): Observable<never> {
          return NEVER;
        }
      }
      @Controller()
      class Response {
        @Post('events')
        @Inbox('early')
        handle(@Res() response: { end(): void }): void {
          response.end();
        }
      }
      @Controller()
      class NextHandler {
        @Post('events')
        @Inbox('early')
        handle(@Next() next: () => void): void {
          next();
        }
      }
      expect(await refusalOf(Stream)).toContain('uses @Sse');
      expect(await refusalOf(Response)).toContain('uses @Res() without { passthrough: true }');
      expect(await refusalOf(NextHandler)).toContain('uses @Next()');
    });

    it('when "events" names a type for which @InboxEvent has no class', async () => {
      @Controller()
      class Contradiction {
        @Post('events')
        @Inbox('contradiction', { events: [OrderPlaced, 'order.lost'] })
        handle(@InboxEvent(OrderPlaced) _: OrderPlaced): void {
          return;
        }
      }
      expect(await refusalOf(Contradiction)).toMatch(/names the type "order.lost" in "events"/);
    });

    it('when a handler names a DataSource that has no inbox', async () => {
      @Controller()
      class Foreign {
        @Post('events')
        @Inbox('foreign', { dataSource: 'OtherDataSource' })
        handle(): void {
          return;
        }
      }
      expect(await refusalOf(Foreign)).toMatch(/inbox of the DataSource OtherDataSource, which has none/);
    });

    it('when InboxModule is registered twice for one DataSource, with the same table or with another', async () => {
      for (const table of ['processed_events', 'other_events']) {
        const imports = [InboxModule.forRoot({ secret: SECRET, table, migrate: 'off' })];
        await expect(start({ imports })).rejects.toThrow(/registered twice for the DataSource DataSource/);
      }
    });

    it('when the table is missing, with what to run', async () => {
      const failure = start({ inbox: { migrate: 'verify', schema: 'nowhere' } });
      await expect(failure).rejects.toThrow(SchemaVersionError);
      await expect(failure).rejects.toThrow(/inboxMigrations\(\)/);
    });
  });

  describe('refuses options', () => {
    it.each<[string, InboxModuleOptions, RegExp]>([
      ['without a secret', {}, /no "secret".*allowUnsigned: true/],
      ['with allowUnsigned: false only', { allowUnsigned: false }, /no "secret"/],
      [
        'that require a signature without a secret',
        { requireSignature: true, allowUnsigned: true },
        /there is no "sec/,
      ],
      ['that allow and require', { secret: SECRET, allowUnsigned: true }, /Remove one/],
      ['with an empty list of secrets', { secret: [] }, /empty list/],
      ['with a wait of 0', { secret: SECRET, waitMs: 0 }, /waitMs is 0/],
      ['with a table name that is too long', { secret: SECRET, table: 'x'.repeat(49) }, /"table"/],
      ['with a mode that does not exist', { secret: SECRET, migrate: 'maybe' as 'auto' }, /"migrate" is "maybe"/],
    ])('%s', (_, options, reason) => {
      expect(() => resolveInboxOptions(options)).toThrow(ConfigurationError);
      expect(() => resolveInboxOptions(options)).toThrow(reason);
    });

    it.each(['', 'whsec_', 'whsec_c2hvcnQ=', 'not base64 at all, not base64 at all', `whsec_${'A'.repeat(88)}`])(
      'whose secret is %j, and never repeats it',
      async (secret) => {
        const failure = start({ inbox: { secret: [SECRET, secret] } });
        await expect(failure).rejects.toThrow(ConfigurationError);
        await expect(failure).rejects.toThrow(/secret 2 is not 24 to 64 bytes/);
        if (secret.length > 6) await expect(failure).rejects.not.toThrow(secret);
      },
    );

    it.each([() => InboxConsumer(''), () => InboxConsumer('x'.repeat(101)), () => Inbox(' ')])(
      'of a consumer name that is empty or too long, while the class is defined',
      (decorate) => {
        expect(() => decorate()(class Target {})).toThrow(/1 to 100 characters/);
      },
    );

    it('of @InboxEvent with a class that is no event, while the class is defined', () => {
      expect(() => InboxEvent(class NoEvent {})).toThrow(/NoEvent.*no @OutboxEvent/);
    });
  });

  describe('keeps the promise of the guard', () => {
    it('when there is no InboxModule: the guard refuses and the handler does not run', async () => {
      const app = await start({ withoutInbox: true });
      await app.database.query('truncate shipments');

      const answer = await app.deliver(orderPlaced());

      expect(answer.status).toBe(500);
      expect(await app.database.query('select * from shipments')).toEqual([]);
    });

    it('when the interceptor is not there: the guard refuses and the handler does not run', async () => {
      @Controller()
      class Stripped extends ShippingController {}
      const handler = Stripped.prototype.onOrderPlaced;
      const app = await start({ controllers: [Stripped] });
      await app.reset();
      const interceptors = Reflect.getMetadata('__interceptors__', handler);
      expect(interceptors).toHaveLength(1);
      Reflect.deleteMetadata('__interceptors__', handler);
      try {
        expect((await app.deliver(orderPlaced())).status).toBe(500);
        expect(await app.counts()).toEqual({ shipments: 0, records: 0 });
      } finally {
        Reflect.defineMetadata('__interceptors__', interceptors, handler);
      }
    });

    it('when InboxModule is loaded after the start, which is too late: the handler does not run', async () => {
      @Controller()
      class Late {
        static calls = 0;

        @Post('events')
        @Inbox('late')
        handle(): void {
          Late.calls += 1;
        }
      }
      const app = await start({ controllers: [Late], withoutInbox: true });
      await app.app.get(LazyModuleLoader).load(() => InboxModule.forRoot({ secret: SECRET, migrate: 'off' }));

      expect((await app.deliver(orderPlaced())).status).toBe(500);
      expect(Late.calls).toBe(0);
    });

    it('on a class, for each of its routes, beside methods that are none', async () => {
      @Controller()
      @Inbox('shipping')
      class WholeClass {
        constructor(@InjectRepository(Shipment) private readonly shipments: Repository<Shipment>) {}

        @Post('events')
        onPlaced(@InboxEvent(OrderPlaced) event: OrderPlaced): Promise<unknown> {
          return this.ship(event);
        }

        @Post('paid')
        onPaid(@InboxEvent(OrderPaid) event: OrderPaid): Promise<unknown> {
          return this.ship(event);
        }

        ship(event: { orderId: string }): Promise<unknown> {
          return this.shipments.save({ orderId: event.orderId });
        }
      }
      await delivers(await start({ controllers: [WholeClass] }));
    });

    it('for a method that is inherited, under the name that each subclass gives', async () => {
      abstract class Base {
        constructor(@InjectRepository(Shipment) protected readonly shipments: Repository<Shipment>) {}

        @Post()
        async onPlaced(@InboxEvent(OrderPlaced) event: OrderPlaced): Promise<void> {
          await this.shipments.save({ orderId: event.orderId });
        }
      }
      @Controller('one')
      @Inbox('one')
      class One extends Base {}
      @Controller('two')
      @Inbox('two')
      class Two extends Base {}

      const app = await start({ controllers: [One, Two] });
      await delivers(app, '/one');
      await delivers(app, '/two');
    });

    it('for a controller that is made for each request', async () => {
      @Controller({ scope: Scope.REQUEST })
      class RequestScoped extends ShippingController {}
      await delivers(await start({ controllers: [RequestScoped] }));
    });

    it('for a subclass of the guard', async () => {
      @Injectable()
      class StrictGuard extends InboxGuard {}
      @Controller()
      class Strict {
        constructor(@InjectRepository(Shipment) private readonly shipments: Repository<Shipment>) {}

        @Post('events')
        @UseGuards(StrictGuard)
        @InboxConsumer('strict')
        async handle(@InboxEvent(OrderPlaced) event: OrderPlaced): Promise<void> {
          await this.shipments.save({ orderId: event.orderId });
        }
      }
      await delivers(await start({ controllers: [Strict] }));
    });

    it('in two applications of one process that share a controller class and differ in their secrets', async () => {
      const other = 'whsec_CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC';
      const one = await start();
      const two = await start({ inbox: { secret: other } });

      for (const [app, secret] of [
        [one, SECRET],
        [two, other],
      ] as const) {
        await app.reset();
        const message = orderPlaced();
        expect((await app.deliver(message, { secret })).status).toBe(201);
        expect((await app.deliver(message, { secret })).status).toBe(200);
        expect((await app.deliver(message, { secret: secret === other ? SECRET : other })).status).toBe(401);
        expect(await app.counts()).toEqual({ shipments: 1, records: 1 });
      }
    });

    it('in contexts that it does not know: it refuses', async () => {
      const app = await start();
      const guard = new InboxGuard(app.app.get(ModuleRef));
      const context = {
        getClass: () => ShippingController,
        getHandler: () => ShippingController.prototype.onOrderPlaced,
        getType: () => 'ws',
      };
      expect(() => guard.canActivate(context as never)).toThrow(/context of type "ws".*by http, rpc, rmq only/);
    });
  });

  describe('can be configured', () => {
    @Injectable()
    class Settings implements InboxOptionsFactory {
      createInboxOptions(): InboxModuleOptions {
        return { secret: SECRET, migrate: 'auto' };
      }
    }

    @Module({ providers: [Settings], exports: [Settings] })
    class SettingsModule {}

    it.each([
      [
        'a factory with what it injects',
        () =>
          InboxModule.forRootAsync({
            imports: [SettingsModule],
            inject: [Settings],
            useFactory: async (settings: Settings) => settings.createInboxOptions(),
          }),
      ],
      ['a class', () => InboxModule.forRootAsync({ useClass: Settings })],
      ['an existing provider', () => InboxModule.forRootAsync({ imports: [SettingsModule], useExisting: Settings })],
    ])('asynchronously by %s', async (_, register) => {
      await delivers(await start({ withoutInbox: true, imports: [register()] }));
    });

    it('to be seen only by the modules that import it', async () => {
      @Injectable()
      class Consumer {
        constructor(@InjectInbox() readonly inbox: InboxService) {}
      }
      const shared = InboxModule.forRoot({ secret: SECRET, migrate: 'auto', isGlobal: false });
      @Module({ imports: [shared], providers: [Consumer], exports: [Consumer] })
      class Importing {}
      @Module({ providers: [Consumer] })
      class NotImporting {}

      const app = await start({ withoutInbox: true, imports: [Importing] });
      expect(app.app.get(Consumer).inbox).toBeInstanceOf(InboxService);
      await delivers(app);
      await expect(start({ withoutInbox: true, imports: [Importing, NotImporting] })).rejects.toThrow(/InboxService/);
    });

    it('for several DataSources, each with its own inbox', async () => {
      const second = await createTestDatabase();
      try {
        @Controller()
        class Second {
          constructor(@InjectRepository(Shipment, 'second') private readonly shipments: Repository<Shipment>) {}

          @Post('second')
          @Inbox('shipping', { dataSource: 'secondDataSource' })
          async handle(@InboxEvent(OrderPlaced) event: OrderPlaced, @InboxTransaction() _: unknown): Promise<void> {
            await this.shipments.save({ orderId: event.orderId });
          }
        }
        @Injectable()
        class Services {
          constructor(
            @InjectInbox() readonly first: InboxService,
            @InjectInbox('secondDataSource') readonly second: InboxService,
          ) {}
        }
        const app = await start({
          controllers: [ShippingController, Second],
          providers: [Services],
          imports: [
            TypeOrmModule.forRoot({
              name: 'second',
              type: 'postgres',
              url: second.url,
              entities: [Shipment],
              synchronize: true,
              retryAttempts: 0,
            }),
            TypeOrmModule.forFeature([Shipment], 'second'),
            InboxModule.forRoot({ secret: SECRET, migrate: 'auto', dataSource: 'secondDataSource' }),
          ],
        });
        await delivers(app);
        const message = orderPlaced();
        expect((await app.deliver(message, { path: '/second' })).status).toBe(201);
        expect((await app.deliver(message, { path: '/second' })).status).toBe(200);
        expect(await app.counts()).toEqual({ shipments: 1, records: 1 });
        expect(await second.query('select consumer_name from processed_events')).toHaveLength(1);
        expect(await second.query('select 1 from shipments')).toHaveLength(1);
        const services = app.app.get(Services);
        expect(services.first).not.toBe(services.second);
        await app.close();
      } finally {
        await second.drop();
      }
    });

    it('so that other routes of the application stay as they are', async () => {
      @Controller()
      class Health {
        @Get('health')
        health(@Req() _: unknown): string {
          return 'ok';
        }
      }
      const app = await start({ controllers: [ShippingController, Health] });
      const response = await fetch(`${app.url}/health`);
      expect([response.status, await response.text()]).toEqual([200, 'ok']);
    });

    it('with a warning when Fastify would answer structured events with 415 by itself', async () => {
      const warningsOf = async (options: Partial<InboxAppOptions>): Promise<string[]> => {
        const logs: { warnings: string[] }[] = [];
        await start({ platform: 'fastify', prepare: (app) => logs.push(captureLog(app)), ...options });
        return logs.flatMap(({ warnings }) => warnings);
      };

      expect(await warningsOf({ bodyParser: false })).toEqual([
        expect.stringMatching(/no parser for application\/cloudevents\+json.*app.useBodyParser/),
      ]);
      expect(await warningsOf({})).toEqual([]);
      expect(await warningsOf({ bodyParser: false, controllers: [] })).toEqual([]);
    });

    it('without HTTP: a context of providers only', async () => {
      const module = await Test.createTestingModule({ imports: inboxImports(database, { database }) ?? [] }).compile();
      await module.init();
      expect(module.get(InboxService)).toBeInstanceOf(InboxService);
      await module.close();
    });
  });
});
