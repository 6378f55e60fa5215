import { Injectable, Scope, type Type } from '@nestjs/common';
import { ContextIdFactory } from '@nestjs/core';
import { ConfigurationError, EmitsEvent, OutboxService } from 'nestjs-transactional-outbox';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { noted, OrderNoted, OrderStep, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';

const ONE = '00000000-0000-7000-8000-000000000001';

@Injectable()
class Base {
  readonly shop: string = 'base';

  @EmitsEvent(OrderNoted, (_shop: string, amount: number) => noted(ONE, amount))
  async place(amount: number): Promise<string> {
    return `${this.shop} ${amount}`;
  }
}

@Injectable()
class Inheriting extends Base {
  override readonly shop = 'inheriting';
}

@Injectable()
class CallingSuper extends Base {
  override readonly shop = 'calling super';

  @EmitsEvent(OrderStep, (_shop: string, amount: number) => step(ONE, amount))
  override async place(amount: number): Promise<string> {
    return `super of ${await super.place(amount)}`;
  }
}

@Injectable()
class Replacing extends Base {
  override async place(): Promise<string> {
    return 'replaced';
  }
}

function Placing<T extends Type<object>>(Parent: T) {
  class Mixed extends Parent {
    @EmitsEvent(OrderNoted, (_shop: string, amount: number) => noted(ONE, amount))
    async place(amount: number): Promise<string> {
      return `mixed into ${Reflect.get(this, 'shop')} ${amount}`;
    }
  }
  return Mixed;
}

class Shop {
  readonly shop = 'a shop';
}

@Injectable()
class WithMixin extends Placing(Shop) {}

@Injectable({ scope: Scope.REQUEST })
class OfRequest extends Base {
  override readonly shop = 'of a request';
}

@Injectable({ scope: Scope.TRANSIENT })
class Transient extends Base {
  override readonly shop = 'transient';
}

@Injectable()
class UsingTransient {
  constructor(readonly transient: Transient) {}
}

@Injectable()
class UsingAnotherTransient extends UsingTransient {}

/** A member of its own name for the outbox, and a constructor of its own. */
@Injectable()
class WithOutbox extends Base {
  constructor(readonly outbox: OutboxService) {
    super();
  }
}

const providers = [
  Base,
  Inheriting,
  CallingSuper,
  Replacing,
  WithMixin,
  OfRequest,
  Transient,
  UsingTransient,
  UsingAnotherTransient,
  WithOutbox,
];

describe('providers with @EmitsEvent', () => {
  let app: OutboxApp;
  let other: OutboxApp;
  beforeAll(async () => {
    const byFactory = { provide: 'by factory', useFactory: () => new Base() };
    app = await startOutboxApp({ providers: [...providers, byFactory, { provide: 'by class', useClass: Base }] });
    other = await startOutboxApp({ providers: [Base] });
  });
  afterAll(async () => {
    await app.close();
    await other.close();
  });
  beforeEach(async () => {
    for (const { database } of [app, other]) {
      await database.query('truncate outbox_event, outbox_delivery, outbox_aggregate');
    }
  });

  const stored = async ({ database }: OutboxApp): Promise<unknown[]> =>
    (await database.query('select type, payload from outbox_event order by id')).map(({ type, payload }) => [
      type,
      payload,
    ]);
  const theEvent = (amountCents: number): unknown => ['order.noted', { orderId: ONE, amountCents }];

  it('an inherited method emits, and `this` is the instance of the subclass', async () => {
    expect(await app.module.get(Inheriting).place(1)).toBe('inheriting 1');
    expect(await stored(app)).toEqual([theEvent(1)]);
  });

  it('an override with a decorator of its own that calls super states both events, the inner one first', async () => {
    expect(await app.module.get(CallingSuper).place(2)).toBe('super of calling super 2');
    expect(await stored(app)).toEqual([theEvent(2), ['order.step', { orderId: ONE, step: 2 }]]);
  });

  it('an override without a decorator states nothing, and the method of the parent still does', async () => {
    expect(await app.module.get(Replacing).place()).toBe('replaced');
    expect(await stored(app)).toEqual([]);
    await app.module.get(Base).place(3);
    expect(await stored(app)).toEqual([theEvent(3)]);
  });

  it('a method that a mixin brings emits', async () => {
    expect(await app.module.get(WithMixin).place(4)).toBe('mixed into a shop 4');
    expect(await stored(app)).toEqual([theEvent(4)]);
  });

  it('a request-scoped provider emits in each of its instances', async () => {
    const [one, two] = await Promise.all(
      [ContextIdFactory.create(), ContextIdFactory.create()].map((id) => app.module.resolve(OfRequest, id)),
    );
    expect(one).not.toBe(two);
    expect([await one?.place(5), await two?.place(6)]).toEqual(['of a request 5', 'of a request 6']);
    expect(await stored(app)).toEqual([theEvent(5), theEvent(6)]);
  });

  it('a transient provider emits in each of its instances', async () => {
    const [one, two] = [app.module.get(UsingTransient).transient, app.module.get(UsingAnotherTransient).transient];
    expect(one).not.toBe(two);
    expect([await one.place(7), await two.place(8)]).toEqual(['transient 7', 'transient 8']);
    expect(await stored(app)).toEqual([theEvent(7), theEvent(8)]);
  });

  it('the constructor and the members of the class stay its own', async () => {
    const service = app.module.get(WithOutbox);
    expect(service.outbox).toBe(app.outbox);
    expect(Object.keys(service).toSorted()).toEqual(['outbox', 'shop']);
    expect(await service.place(9)).toBe('base 9');
  });

  it('a provider under another token emits', async () => {
    await app.module.get<Base>('by class').place(10);
    expect(await stored(app)).toEqual([theEvent(10)]);
  });

  it('two applications in one process emit each into its own database', async () => {
    await Promise.all([
      app.module.get(Base).place(11),
      other.module.get(Base).place(12),
      app.outbox.transaction(() => other.module.get(Base).place(13)),
    ]);
    expect(await stored(app)).toEqual([theEvent(11)]);
    const inOther = await stored(other);
    expect(inOther).toHaveLength(2);
    expect(inOther).toEqual(expect.arrayContaining([theEvent(12), theEvent(13)]));
  });

  it.each<readonly [string, () => Promise<string>]>([
    ['that a test or a factory made with new', () => new Inheriting().place(1)],
    ['that a provider made with new inside useFactory', () => app.module.get<Base>('by factory').place(1)],
    [
      'that is missing, because the method was taken from it',
      () => Reflect.apply(Base.prototype.place, undefined, [1]),
    ],
  ])('an instance %s is refused at the call, with class and member', async (_what, call) => {
    const refused = call();
    await expect(refused).rejects.toThrow(ConfigurationError);
    await expect(refused).rejects.toThrow('Base.place() carries @EmitsEvent, but its instance was not created by Nest');
    expect(await stored(app)).toEqual([]);
  });
});
