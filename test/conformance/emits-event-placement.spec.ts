import type { AddressInfo } from 'node:net';
import {
  applyDecorators,
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  HttpCode,
  type INestApplication,
  Injectable,
  Param,
  Post,
  Query,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Cron, ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EmitsEvent, OutboxModule } from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { noted, OrderNoted } from '../support/outbox-app.js';

const ONE = '00000000-0000-7000-8000-000000000001';
const YEARLY = '0 0 0 1 1 *';

/** As Swagger does: an object on the method, extended by each decorator. */
function Documented(extra: object): MethodDecorator {
  return (_target, _member, descriptor) => {
    const method = descriptor.value as object;
    Reflect.defineMetadata('documentation', { ...Reflect.getMetadata('documentation', method), ...extra }, method);
  };
}

@Injectable()
class RolesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const roles = this.reflector.get<string[] | undefined>('roles', context.getHandler());
    const { role } = context.switchToHttp().getRequest<{ headers: { role?: string } }>().headers;
    return roles?.includes(role ?? '') ?? false;
  }
}

const Above = (route: string): MethodDecorator & PropertyDecorator =>
  applyDecorators(Post(`${route}/:id`), UseGuards(RolesGuard), Documented({ summary: 'places', above: true }));
const Below = (): MethodDecorator & PropertyDecorator =>
  applyDecorators(SetMetadata('roles', ['clerk']), HttpCode(202), Documented({ below: true }));
const Emits = (): ReturnType<typeof EmitsEvent> =>
  EmitsEvent(OrderNoted, (_result: unknown, id: string, amount: number) => noted(id, amount));

@Controller()
class Placing {
  private readonly shop = 'north';

  @Emits()
  @Above('first')
  @Below()
  async first(@Param('id') id: string, @Body('amount') amount: number, @Query('note') note?: string): Promise<object> {
    return { id, amount, note, shop: this.shop };
  }

  @Above('middle')
  @Emits()
  @Below()
  async middle(@Param('id') id: string, @Body('amount') amount: number, @Query('note') note?: string): Promise<object> {
    return { id, amount, note, shop: this.shop };
  }

  @Above('last')
  @Below()
  @Emits()
  async last(@Param('id') id: string, @Body('amount') amount: number, @Query('note') note?: string): Promise<object> {
    return { id, amount, note, shop: this.shop };
  }

  /** Around the others, with metadata between the two. */
  @Emits()
  @Above('around')
  @Emits()
  @Below()
  async around(@Param('id') id: string, @Body('amount') amount: number, @Query('note') note?: string): Promise<object> {
    return { id, amount, note, shop: this.shop };
  }
}

@Injectable()
class Nightly {
  private readonly amount = 3;

  @Cron(YEARLY, { name: 'above' })
  @EmitsEvent(OrderNoted, (amount: number) => noted(ONE, amount))
  async below(): Promise<number> {
    return this.amount;
  }

  @EmitsEvent(OrderNoted, (amount: number) => noted(ONE, amount))
  @Cron(YEARLY, { name: 'below' })
  async above(): Promise<number> {
    return this.amount;
  }
}

describe('@EmitsEvent among the decorators of other libraries', () => {
  let app: INestApplication;
  let database: TestDatabase;
  let url: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    const module = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot({ type: 'postgres', url: database.url, retryAttempts: 0 }),
        ScheduleModule.forRoot(),
        OutboxModule.forRoot({
          destinations: { memory: { transport: new MemoryTransport() } },
          routes: [{ events: [OrderNoted], to: ['memory'] }],
          migrate: 'auto',
          dispatcher: { schedule: false },
        }),
      ],
      controllers: [Placing],
      providers: [Nightly],
    }).compile();
    app = module.createNestApplication(new ExpressAdapter(), { logger: false });
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo; // it listens on TCP
    url = `http://127.0.0.1:${port}`;
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });
  beforeEach(() => database.query('truncate outbox_event, outbox_delivery'));

  const payloads = async (): Promise<unknown[]> =>
    (await database.query('select payload from outbox_event')).map(({ payload }) => payload);
  const post = (route: string, role: string): Promise<Response> =>
    fetch(`${url}/${route}/${ONE}?note=soon`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', role },
      body: JSON.stringify({ amount: 7 }),
    });

  describe.each([
    ['first', 1],
    ['middle', 1],
    ['last', 1],
    ['around', 2],
  ] as const)('placed %s', (route, events) => {
    it('the route is found, its parameters are bound, `this` is the controller, and the status is the given one', async () => {
      const response = await post(route, 'clerk');
      expect(response.status).toBe(202);
      expect(await response.json()).toEqual({ id: ONE, amount: 7, note: 'soon', shop: 'north' });
      expect(await payloads()).toEqual(Array.from({ length: events }, () => ({ orderId: ONE, amountCents: 7 })));
    });

    it('the guard runs before it, and what the guard refuses states no event', async () => {
      expect((await post(route, 'stranger')).status).toBe(403);
      expect(await payloads()).toEqual([]);
    });

    it('name, length and everything that others wrote on the method stay', () => {
      const method = Placing.prototype[route];
      expect([method.name, method.length]).toEqual([route, 3]);
      expect(Reflect.getMetadata('documentation', method)).toEqual({ summary: 'places', above: true, below: true });
      expect(Reflect.getMetadata('roles', method)).toEqual(['clerk']);
      expect(Reflect.getMetadata('design:paramtypes', Placing.prototype, route)).toEqual([String, Number, String]);
      expect(Reflect.getMetadata('design:returntype', Placing.prototype, route)).toBe(Promise);
    });
  });

  it.each(['above', 'below'])('a scheduled job with @Cron %s it is found and emits when it is due', async (name) => {
    await app.get(SchedulerRegistry).getCronJob(name).fireOnTick();
    await eventually(async () => expect(await payloads()).toEqual([{ orderId: ONE, amountCents: 3 }]));
  });
});
