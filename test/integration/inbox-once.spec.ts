import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  Post,
  UnprocessableEntityException,
  UseGuards,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { InjectRepository } from '@nestjs/typeorm';
import {
  Inbox,
  InboxConsumer,
  InboxEnvelope,
  InboxEvent,
  InboxGuard,
  InboxTransaction,
  type ReceivedEvent,
} from 'nestjs-transactional-outbox';
import { mergeMap, type Observable } from 'rxjs';
import { EntityManager, Repository } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  captureLog,
  type InboxApp,
  OrderPaid,
  OrderPlaced,
  orderPlaced,
  PLATFORMS,
  Shipment,
  startInboxApp,
} from './inbox-app.js';

/** Where the next delivery is cut off. */
type Cut = 'after the record' | 'after the effect' | 'after the commit, before the answer';

@Injectable()
class Cuts {
  next: Cut | undefined;
  calls = 0;

  at(point: Cut): void {
    if (this.next !== point) return;
    this.next = undefined;
    throw new Error(`cut off ${point}`);
  }
}

/** Global interceptors are outside of the inbox: on the way out, the transaction is committed. */
@Injectable()
class CutTheAnswer implements NestInterceptor {
  constructor(private readonly cuts: Cuts) {}

  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      mergeMap((value) => {
        this.cuts.at('after the commit, before the answer');
        return [value];
      }),
    );
  }
}

@Controller()
class ShippingController {
  constructor(
    @InjectRepository(Shipment) private readonly shipments: Repository<Shipment>,
    private readonly cuts: Cuts,
  ) {}

  @Post('events')
  @UseGuards(InboxGuard)
  @InboxConsumer('shipping')
  async onOrderPlaced(@InboxEvent(OrderPlaced) event: OrderPlaced): Promise<{ shipped: string }> {
    this.cuts.calls += 1;
    this.cuts.at('after the record');
    if (event.amountCents > 10_000) throw new UnprocessableEntityException('too expensive to ship');
    await this.shipments.save({ orderId: event.orderId });
    this.cuts.at('after the effect');
    return { shipped: event.orderId };
  }

  @Post('receipts')
  @Inbox('receipts', { keepResult: true })
  async onAnyOrder(
    @InboxEvent(OrderPlaced, OrderPaid) event: OrderPlaced | OrderPaid,
    @InboxEnvelope() message: ReceivedEvent,
    @InboxTransaction() manager: EntityManager,
  ): Promise<{ receipt: number; kind: string; from: string }> {
    const { id } = await manager.save(Shipment, { orderId: event.orderId, consumer: 'receipts' });
    return { receipt: id, kind: event.constructor.name, from: message.source };
  }
}

describe.each(PLATFORMS)('An event that is delivered again, on %s', (platform) => {
  let app: InboxApp;
  let cuts: Cuts;

  beforeAll(async () => {
    app = await startInboxApp({
      platform,
      controllers: [ShippingController],
      providers: [Cuts, { provide: APP_INTERCEPTOR, useClass: CutTheAnswer }],
    });
    cuts = app.app.get(Cuts);
  });

  beforeEach(async () => {
    cuts.calls = 0;
    await app.reset();
  });

  afterAll(() => app.close());

  it("has its effect once; the first answer is the handler's, a duplicate is told 200 and nothing more", async () => {
    const message = orderPlaced();

    const first = await app.deliver(message);
    const second = await app.deliver(message);

    expect(first.status).toBe(201);
    expect(first.json).toEqual({ shipped: '0198c0de-0000-7000-8000-000000000001' });
    expect(first.headers.get('inbox-outcome')).toBeNull();
    expect(second.status).toBe(200);
    expect(second.text).toBe('');
    expect(second.headers.get('inbox-outcome')).toBe('duplicate');
    expect(cuts.calls).toBe(1);
    expect(await app.counts()).toEqual({ shipments: 1, records: 1 });
  });

  it.each<[Cut, number]>([
    ['after the record', 0],
    ['after the effect', 0],
    ['after the commit, before the answer', 1],
  ])('has one effect when the first delivery is cut off %s and two more follow', async (cut, effectsAtCut) => {
    const message = orderPlaced();
    cuts.next = cut;

    const first = await app.deliver(message);
    expect(first.status).toBe(500);
    expect(await app.counts()).toEqual({ shipments: effectsAtCut, records: effectsAtCut });

    const second = await app.deliver(message);
    const third = await app.deliver(message);
    expect(second.status).toBe(effectsAtCut === 0 ? 201 : 200);
    expect(third.status).toBe(200);
    expect(await app.counts()).toEqual({ shipments: 1, records: 1 });
  });

  it('is refused with 409 and an error in the log when the same id comes with other content', async () => {
    const message = orderPlaced(100);
    await app.deliver(message);

    const log = captureLog(app.app);
    const forged = await app.deliver(orderPlaced(101, message.id));
    app.app.useLogger(false);

    expect(log.errors).toEqual([
      `an event id came with different content consumer="shipping" handler="ShippingController.onOrderPlaced" id="${message.id}" type="order.placed"`,
    ]);
    expect(forged.status).toBe(409);
    expect(forged.json).toMatchObject({ statusCode: 409, code: 'INBOX_CONFLICT' });
    expect(forged.json?.message).toContain(message.id);
    expect(await app.counts()).toEqual({ shipments: 1, records: 1 });
    expect((await app.deliver(message)).status).toBe(200);
  });

  it('is a duplicate also when its keys come in another order', async () => {
    const message = orderPlaced();
    await app.deliver(message);

    const { orderId, amountCents } = message.data as OrderPlaced;
    const again = await app.deliver({ ...message, data: { amountCents, orderId } });

    expect(again.status).toBe(200);
  });

  it('leaves no record when the business refuses it, so that it can be delivered again', async () => {
    const tooExpensive = orderPlaced(20_000);

    const first = await app.deliver(tooExpensive);
    const second = await app.deliver(tooExpensive);

    expect([first.status, second.status]).toEqual([422, 422]);
    expect(first.json).toMatchObject({ message: 'too expensive to ship' });
    expect(cuts.calls).toBe(2);
    expect(await app.counts()).toEqual({ shipments: 0, records: 0 });
  });

  it('gets the first result back where the consumer keeps it', async () => {
    const message = orderPlaced();

    const first = await app.deliver(message, { path: '/receipts' });
    const second = await app.deliver(message, { path: '/receipts' });

    expect(first.status).toBe(201);
    expect(first.json).toEqual({ receipt: 1, kind: 'OrderPlaced', from: '/orders' });
    expect(second.status).toBe(200);
    expect(second.json).toEqual(first.json);
    expect(second.headers.get('inbox-outcome')).toBe('duplicate');
    expect(await app.counts()).toEqual({ shipments: 1, records: 1 });
  });

  it('has one effect for each of two consumers', async () => {
    const message = orderPlaced();

    for (const path of ['/events', '/receipts', '/events', '/receipts']) await app.deliver(message, { path });

    const rows = await app.database.query('select consumer, count(*)::int from shipments group by 1 order by 1');
    expect(rows).toEqual([
      { consumer: 'receipts', count: 1 },
      { consumer: 'shipping', count: 1 },
    ]);
    expect(await app.counts()).toEqual({ shipments: 2, records: 2 });
  });

  it('reaches the handler as an instance of the class that belongs to its type', async () => {
    const paid = { ...orderPlaced(), type: 'order.paid', data: { orderId: '0198c0de-0000-7000-8000-000000000002' } };

    const answer = await app.deliver(paid, { path: '/receipts' });

    expect(answer.json).toMatchObject({ kind: 'OrderPaid' });
  });
});
