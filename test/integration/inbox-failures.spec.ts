import {
  Body,
  type CallHandler,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  HttpCode,
  HttpException,
  Injectable,
  type NestInterceptor,
  type PipeTransform,
  Post,
  Res,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost } from '@nestjs/core';
import { InjectDataSource, InjectRepository } from '@nestjs/typeorm';
import { Inbox, InboxConsumer, InboxEvent, InboxGuard, InboxTransaction } from 'nestjs-transactional-outbox';
import { Observable, retry } from 'rxjs';
import { DataSource, EntityManager, type EntitySubscriberInterface, Repository } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type InboxApp, OrderPlaced, orderPlaced, PLATFORMS, Shipment, startInboxApp } from './inbox-app.js';

@Injectable()
class Trace {
  steps: string[] = [];
  failures = 0;
}

@Injectable()
class TracingPipe implements PipeTransform {
  constructor(private readonly trace: Trace) {}

  transform(value: unknown): unknown {
    this.trace.steps.push('pipe');
    return value;
  }
}

/** Retries what is below it, as some applications do for every route. */
@Injectable()
class RetryOnce implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(retry(1));
  }
}

@Catch()
class TracingFilter implements ExceptionFilter {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly trace: Trace,
  ) {}

  catch(error: unknown, host: { getArgByIndex(index: number): unknown }): void {
    const status = error instanceof HttpException ? error.getStatus() : 500;
    const body = error instanceof HttpException ? error.getResponse() : { statusCode: 500 };
    this.trace.steps.push(`filter ${status}`);
    this.host.httpAdapter.reply(host.getArgByIndex(1), body, status);
  }
}

@Controller()
class FailingController {
  constructor(
    @InjectRepository(Shipment) private readonly shipments: Repository<Shipment>,
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly trace: Trace,
  ) {}

  @Post('traced')
  @Inbox('traced')
  async traced(@Body(TracingPipe) _: unknown, @InboxEvent(OrderPlaced) event: OrderPlaced): Promise<string> {
    this.trace.steps.push('handler');
    await this.shipments.save({ orderId: event.orderId });
    return 'done';
  }

  @Post('swallows')
  @Inbox('swallows')
  async swallows(@InboxEvent(OrderPlaced) event: OrderPlaced): Promise<string> {
    await this.shipments.save({ orderId: event.orderId });
    await this.shipments.query('select 1 / 0').catch(() => undefined);
    return 'all is well';
  }

  @Post('deferred')
  @Inbox('deferred')
  async violatesAtCommit(@InboxTransaction() manager: EntityManager): Promise<string> {
    await manager.query('insert into seats (seat) values (1)');
    return 'all is well';
  }

  @Post('killed')
  @Inbox('killed')
  async losesItsConnection(@InboxEvent(OrderPlaced) event: OrderPlaced): Promise<string> {
    await this.shipments.save({ orderId: event.orderId });
    if (this.trace.failures > 0) {
      this.trace.failures -= 1;
      const [row] = await this.dataSource.query<{ pid: number }[]>('select pg_backend_pid() as pid');
      const killer = this.dataSource.createQueryRunner();
      await killer.query('select pg_terminate_backend($1, 5000)', [row?.pid]).finally(() => killer.release());
    }
    return 'all is well';
  }

  @Post('conflicts')
  @Inbox('conflicts')
  async conflicts(@InboxTransaction() manager: EntityManager): Promise<void> {
    await manager.query("do $$ begin raise exception 'deadlock' using errcode = '40P01'; end $$");
  }

  @Post('observable')
  @Inbox('observable')
  @HttpCode(202)
  observable(@InboxEvent(OrderPlaced) event: OrderPlaced): Observable<unknown> {
    return new Observable((subscriber) => {
      this.shipments.save({ orderId: event.orderId }).then(
        () => {
          subscriber.next('first');
          subscriber.next('last');
          subscriber.complete();
        },
        (error: unknown) => subscriber.error(error),
      );
    });
  }

  @Post('outside')
  @Inbox('outside')
  async writesElsewhere(@InboxEvent(OrderPlaced) event: OrderPlaced): Promise<void> {
    const runner = this.dataSource.createQueryRunner();
    await runner.manager.save(Shipment, { orderId: event.orderId }).finally(() => runner.release());
    throw new Error('the handler fails after a write of its own connection');
  }

  @Post('headers')
  @Inbox('headers')
  headers(@Res({ passthrough: true }) response: { header(name: string, value: string): void }): { ok: boolean } {
    response.header('x-made-by', 'handler');
    return { ok: true };
  }
}

@Controller()
@UseInterceptors(RetryOnce)
class RetriedController {
  constructor(
    @InjectRepository(Shipment) private readonly shipments: Repository<Shipment>,
    private readonly trace: Trace,
  ) {}

  @Post('retried')
  @UseGuards(InboxGuard)
  @InboxConsumer('retried')
  async retried(@InboxEvent(OrderPlaced) event: OrderPlaced): Promise<string> {
    await this.shipments.save({ orderId: event.orderId });
    this.trace.steps.push('handler');
    if (this.trace.failures > 0) {
      this.trace.failures -= 1;
      throw new Error('the first run fails');
    }
    return 'second run';
  }
}

describe.each(PLATFORMS)('A handler of the inbox that fails, on %s', (platform) => {
  let app: InboxApp;
  let trace: Trace;

  beforeAll(async () => {
    app = await startInboxApp({
      platform,
      controllers: [FailingController, RetriedController],
      providers: [Trace, TracingPipe, RetryOnce, { provide: APP_FILTER, useClass: TracingFilter }],
    });
    trace = app.app.get(Trace);
    await app.database.query('create table seats (seat int unique deferrable initially deferred)');
    await app.database.query('insert into seats values (1)');
  });

  beforeEach(async () => {
    trace.steps = [];
    trace.failures = 0;
    await app.reset();
  });

  afterAll(() => app.close());

  it('comes after guard and pipe, and the answer after the commit', async () => {
    const commits: EntitySubscriberInterface = {
      afterQuery: ({ query }) => {
        if (query === 'COMMIT') trace.steps.push('commit');
      },
    };
    app.dataSource.subscribers.push(commits);
    try {
      const answer = await app.deliver(orderPlaced(), { path: '/traced' });
      trace.steps.push('answer');
      expect(answer.text).toBe('done');
      expect(trace.steps).toEqual(['pipe', 'handler', 'commit', 'answer']);

      trace.steps = [];
      const refused = await app.deliver(orderPlaced(), { path: '/traced', secret: null });
      expect(refused.status).toBe(401);
      expect(trace.steps).toEqual(['filter 401']);
    } finally {
      app.dataSource.subscribers.splice(app.dataSource.subscribers.indexOf(commits), 1);
    }
  });

  it('by swallowing a database error is not answered with success, and leaves nothing', async () => {
    const message = orderPlaced();

    const answer = await app.deliver(message, { path: '/swallows' });

    expect(answer.status).toBe(500);
    expect(await app.counts()).toEqual({ shipments: 0, records: 0 });
  });

  it('only at the commit is not answered with success, and leaves no record', async () => {
    const answer = await app.deliver(orderPlaced(), { path: '/deferred' });

    expect(answer.status).toBe(500);
    expect(await app.counts()).toEqual({ shipments: 0, records: 0 });
  });

  it('because its connection was killed leaves nothing, and the next delivery is processed', async () => {
    trace.failures = 1;
    const message = orderPlaced();

    const first = await app.deliver(message, { path: '/killed' });
    expect(first.status).toBeGreaterThanOrEqual(500);
    expect(await app.counts()).toEqual({ shipments: 0, records: 0 });

    expect((await app.deliver(message, { path: '/killed' })).status).toBe(201);
    expect(await app.counts()).toEqual({ shipments: 1, records: 1 });
  });

  it('with a conflict that PostgreSQL asks to try again is answered 503 with Retry-After', async () => {
    const answer = await app.deliver(orderPlaced(), { path: '/conflicts' });

    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('5');
    expect(await app.counts()).toEqual({ shipments: 0, records: 0 });
  });

  it('and is run again by an interceptor is in a new transaction the second time', async () => {
    trace.failures = 1;

    const answer = await app.deliver(orderPlaced(), { path: '/retried' });

    expect(answer.text).toBe('second run');
    expect(trace.steps).toEqual(['handler', 'handler']);
    expect(await app.counts()).toEqual({ shipments: 1, records: 1 });
  });

  it('is not protected in what it wrote through a connection of its own, as the guide says', async () => {
    await app.deliver(orderPlaced(), { path: '/outside' });

    expect(await app.counts()).toEqual({ shipments: 1, records: 0 });
  });

  it('and answers with an Observable has its effect in the transaction, and the last value is the answer', async () => {
    const message = orderPlaced();

    const first = await app.deliver(message, { path: '/observable' });
    const second = await app.deliver(message, { path: '/observable' });

    expect([first.status, first.text]).toEqual([202, 'last']);
    expect([second.status, second.text]).toEqual([200, '']);
    expect(await app.counts()).toEqual({ shipments: 1, records: 1 });
  });

  it('may set headers through @Res({ passthrough: true })', async () => {
    const answer = await app.deliver(orderPlaced(), { path: '/headers' });

    expect(answer.status).toBe(201);
    expect(answer.headers.get('x-made-by')).toBe('handler');
  });

  it('is not at fault when there is no connection: 503 with Retry-After', async () => {
    const runners = Array.from({ length: 10 }, () => app.dataSource.createQueryRunner());
    const settings = app.dataSource.driver as unknown as { master: { options: { connectionTimeoutMillis: number } } };
    try {
      await Promise.all(runners.map((runner) => runner.connect()));
      settings.master.options.connectionTimeoutMillis = 200;
      const answer = await app.deliver(orderPlaced(), { path: '/traced' });
      expect(answer.status).toBe(503);
      expect(trace.steps).toEqual(['filter 503']);
    } finally {
      settings.master.options.connectionTimeoutMillis = 0;
      await Promise.all(runners.map((runner) => runner.release()));
    }
  });
});
