import { describe, expect, it } from 'vitest';
import { compileSnippets } from './compiled-snippets.js';

const IMPORTS = `
import { Body, Controller, Param, Post } from '@nestjs/common';
import { AggregateId, EmitsEvent, OutboxEvent } from 'nestjs-transactional-outbox';
import type { EntityManager } from 'typeorm';
@OutboxEvent('order.placed', { aggregate: 'order' })
class OrderPlaced {
  @AggregateId() orderId: string;
  amountCents: number;
  note?: string;
  describe(): string { return this.orderId; }
}
interface Order { readonly id: string; readonly total: number; }
declare const order: Order;
const toEvent = (order: Order) => ({ orderId: order.id, amountCents: order.total });
`;

/** A line of a snippet that ends in "// error <code>" must have that error, and no other line may have one. */
const snippets = {
  'a mapping takes what the promise of the method gives, then its arguments': `${IMPORTS}
export class Orders {
  @EmitsEvent(OrderPlaced, toEvent)
  async place(id: string): Promise<Order> { return { ...order, id }; }
  @EmitsEvent(OrderPlaced, (_result: void, orderId: string, amountCents: number) => ({ orderId, amountCents }))
  async nothing(_orderId: string, _amount: number): Promise<void> {}
  @EmitsEvent(OrderPlaced, (_result, orderId: string) => ({ orderId, amountCents: 1 }))
  async unread(_orderId: string): Promise<Order> { return order; }
  @EmitsEvent(OrderPlaced, () => ({ orderId: 'one', amountCents: 1 }))
  async constant(_manager: EntityManager): Promise<void> {}
  @EmitsEvent(OrderPlaced, (found: Order | undefined) => found && toEvent(found))
  async optional(): Promise<Order | undefined> { return undefined; }
}`,
  'a mapping may give an instance, the fields without the methods, a list of either, or nothing': `${IMPORTS}
export class Orders {
  @EmitsEvent(OrderPlaced, (order: Order) => Object.assign(new OrderPlaced(), toEvent(order)))
  @EmitsEvent(OrderPlaced, (order: Order) => [toEvent(order), new OrderPlaced()])
  @EmitsEvent(OrderPlaced, (order: Order) => (order.total > 0 ? toEvent(order) : undefined))
  @EmitsEvent(OrderPlaced, (order: Order) => (order.total > 0 ? { ...toEvent(order), note: 'x' } : null))
  async place(): Promise<Order> { return order; }
}`,
  'a mapping that does not fit the result is refused': `${IMPORTS}
export class Orders {
  @EmitsEvent(OrderPlaced, toEvent) // error 1241
  async text(): Promise<string> { return 'one'; }
  @EmitsEvent(OrderPlaced, toEvent) // error 1241
  async nothing(): Promise<void> {}
  @EmitsEvent(OrderPlaced, toEvent) // error 1241
  async optional(): Promise<Order | undefined> { return undefined; }
}`,
  'a mapping that lacks fields, or gives another type, text or a promise is refused': `${IMPORTS}
export class Orders {
  @EmitsEvent(OrderPlaced, (order: Order) => ({ orderId: order.id })) // error 2345
  async missing(): Promise<Order> { return order; }
  @EmitsEvent(OrderPlaced, (order: Order) => ({ orderId: order.id, amountCents: String(order.total) })) // error 2345
  async wrong(): Promise<Order> { return order; }
  @EmitsEvent(OrderPlaced, (order: Order) => order.id) // error 2345
  async text(): Promise<Order> { return order; }
  @EmitsEvent(OrderPlaced, async (order: Order) => toEvent(order)) // error 2345
  async later(): Promise<Order> { return order; }
}`,
  'without a mapping the result must be the event': `${IMPORTS}
export class Orders {
  @EmitsEvent(OrderPlaced)
  async instance(): Promise<OrderPlaced> { return new OrderPlaced(); }
  @EmitsEvent(OrderPlaced, undefined, { headers: { tenant: 'north' } })
  async fields(): Promise<{ orderId: string; amountCents: number }> { return toEvent(order); }
  @EmitsEvent(OrderPlaced)
  async list(): Promise<OrderPlaced[] | undefined> { return undefined; }
  @EmitsEvent(OrderPlaced) // error 1241
  async nothing(): Promise<void> {}
  @EmitsEvent(OrderPlaced) // error 1241
  async other(): Promise<Order> { return order; }
  @EmitsEvent(OrderPlaced, undefined, { headers: { tenant: 'north' } }) // error 1241
  async withOptions(): Promise<Order> { return order; }
}`,
  'what gives no promise is refused': `${IMPORTS}
export class Orders {
  @EmitsEvent(OrderPlaced, toEvent) // error 1241
  place(): Order { return order; }
  @EmitsEvent(OrderPlaced, () => undefined) // error 1241
  *each(): Generator<Order> { yield order; }
  @EmitsEvent(OrderPlaced, () => undefined) // error 1241
  async *later(): AsyncGenerator<Order> { yield order; }
  @EmitsEvent(OrderPlaced, toEvent) // error 1241
  get current(): Order { return order; }
  @EmitsEvent(OrderPlaced, toEvent) // error 1240
  arrow = async (): Promise<Order> => order;
}
@EmitsEvent(OrderPlaced) // error 1238
export class Whole {}`,
  'overloads and type parameters keep the signature of the method': `${IMPORTS}
export class Orders {
  find(id: string): Promise<Order>;
  find(id: string, isMany: true): Promise<Order[]>;
  @EmitsEvent(OrderPlaced, () => undefined)
  async find(id: string, isMany?: true): Promise<Order | Order[]> { return isMany ? [{ ...order, id }] : order; }
  @EmitsEvent(OrderPlaced, (kept: Order) => toEvent(kept))
  async keep<T extends Order>(given: T): Promise<T> { return given; }
  @EmitsEvent(OrderPlaced, (kept: Order) => toEvent(kept))
  private async hidden(): Promise<Order> { return order; }
  both(): Promise<Order> { return this.hidden(); }
}
declare const orders: Orders;
export const one: Promise<Order> = orders.find('one');
export const many: Promise<Order[]> = orders.find('one', true);
export const more: Promise<number> = orders.keep({ ...order, extra: 1 }).then(({ extra }) => extra);
export const none: Promise<string> = orders.find('one'); // error 2322
void orders.find(1); // error 2345
void orders.keep('text'); // error 2345
void orders.hidden(); // error 2341`,
  'it stands among the decorators of a controller': `${IMPORTS}
@Controller('orders')
export class OrdersController {
  @Post(':id')
  @EmitsEvent(OrderPlaced, (_: void, orderId: string, { amountCents }: { amountCents: number }) => ({ orderId, amountCents }))
  async place(@Param('id') _id: string, @Body() _body: { amountCents: number }): Promise<void> {}
}`,
  'headers are text, and options are known': `${IMPORTS}
export class Orders {
  @EmitsEvent(OrderPlaced, toEvent, { headers: { tenant: 'north' }, dataSource: 'billing' })
  async place(): Promise<Order> { return order; }
  @EmitsEvent(OrderPlaced, toEvent, { headers: { attempt: 1 } }) // error 2769
  async numeric(): Promise<Order> { return order; }
  @EmitsEvent(OrderPlaced, toEvent, { header: { tenant: 'north' } }) // error 2769
  async unknown(): Promise<Order> { return order; }
}`,
};

describe('the types of @EmitsEvent', () => {
  const compiled = compileSnippets(snippets);

  it.each(Object.entries(compiled))('%s', (_title, { found, announced, texts }) => {
    expect(found, texts.join('\n')).toEqual(announced);
  });
});
