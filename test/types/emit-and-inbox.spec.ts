import { describe, expect, it } from 'vitest';
import { compileSnippets } from './compiled-snippets.js';

const IMPORTS = `
import { Controller, Post } from '@nestjs/common';
import {
  AggregateId, type EventEnvelope, Inbox, InboxConsumer, InboxEnvelope, InboxEvent, InboxTransaction, OutboxEvent,
  OutboxModule, type OutboxService, type ReceivedEvent,
} from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import type { EntityManager } from 'typeorm';
@OutboxEvent('order.placed', { aggregate: 'order' })
class OrderPlaced {
  @AggregateId() orderId: string;
}
declare const outbox: OutboxService;
declare const manager: EntityManager;
declare const event: OrderPlaced;
declare const events: readonly OrderPlaced[];
`;

/** A line of a snippet that ends in "// error <code>" must have that error, and no other line may have one. */
const snippets = {
  'emit takes an event or a list, with or without a manager, and gives the ids': `${IMPORTS}
const headers = { tenant: 'north' };
export const calls: Promise<string[]>[] = [
  outbox.emit(event),
  outbox.emit(events),
  outbox.emit([event, event], { headers }),
  outbox.emit(manager, event),
  outbox.emit(manager, events, { headers }),
];`,
  'emit refuses what can be no event, no manager or no header': `${IMPORTS}
void outbox.emit(); // error 2554
void outbox.emit('order.placed'); // error 2345
void outbox.emit(undefined); // error 2345
void outbox.emit(undefined, event); // error 2769
void outbox.emit({ query: () => undefined }, event); // error 2769
void outbox.emit(event, { headers: { attempt: 1 } }); // error 2769
void outbox.emit(manager, event, { headers: { attempt: undefined } }); // error 2322
void outbox.emit(manager, event, { tenant: 'north' }); // error 2353
export const id: Promise<string> = outbox.emit(event); // error 2322`,
  'transaction gives what the work gives, and the work gives a promise': `${IMPORTS}
export const result: Promise<number> = outbox.transaction(async (own) => (await own.query('select 1')).length as number);
export const strict: Promise<void> = outbox.transaction(async () => undefined, { isolation: 'SERIALIZABLE' });
export const text: Promise<string> = outbox.transaction(async () => 1); // error 2322
void outbox.transaction(() => 1); // error 2322
void outbox.transaction(async () => 1, { isolation: 'CHAOS' }); // error 2322`,
  'an event class says what it is about': `${IMPORTS}
@OutboxEvent('a', { aggregate: 'a', version: 2, ordered: true, onDead: 'skip' })
export class WithArguments {
  constructor(@AggregateId() readonly id: string) {} // error 1239
}
@OutboxEvent('b') // error 2554
export class WithoutOptions {}
@OutboxEvent('c', {}) // error 2345
export class WithoutAggregate {}
@OutboxEvent('d', { aggregate: 'd', onDead: 'ignore' }) // error 2322
export class WithUnknownOption {}`,
  'a handler gets the instance, the envelope and the transaction': `${IMPORTS}
@OutboxEvent('order.paid', { aggregate: 'order' })
class OrderPaid { @AggregateId() orderId: string; }
@Controller()
export class Shipping {
  @Post()
  @Inbox('shipping')
  async onOrder(
    @InboxEvent(OrderPlaced, OrderPaid) _event: OrderPlaced | OrderPaid,
    @InboxEnvelope() envelope: ReceivedEvent,
    @InboxTransaction() _manager: EntityManager,
  ): Promise<string> { return envelope.id; }
  @Inbox('ordered', { events: [OrderPlaced] })
  async named(): Promise<void> {}
  async wrong(@InboxEvent() _event: OrderPlaced): Promise<void> {} // error 2555
  async text(@InboxEvent('order.placed') _event: OrderPlaced): Promise<void> {} // error 2345
}`,
  'what was received may lack what only our producer sends': `${IMPORTS}
declare const received: ReceivedEvent;
declare const sent: EventEnvelope;
export const id: string = received.id;
export const aggregate: string = received.aggregateId; // error 2322
export const payload: OrderPlaced = received.payload; // error 2322
received.id = 'other'; // error 2540
export const sequence: bigint = sent.sequence; // error 2322`,
  'a module names its destinations and routes': `${IMPORTS}
export const module = OutboxModule.forRoot({
  destinations: { audit: { transport: new MemoryTransport() } },
  routes: [{ events: [OrderPlaced, 'order.paid'], to: ['audit'] }],
});
OutboxModule.forRoot({ routes: [] }); // error 2345
OutboxModule.forRoot({ destinations: {}, routes: [{ events: [OrderPlaced] }] }); // error 2741
OutboxModule.forRoot({ destinations: { audit: {} }, routes: [] }); // error 2741
OutboxModule.forRoot({ destinations: {}, routes: [], maxPayloadByte: 1 }); // error 2561`,
};

describe('the types of emit, of event classes and of the inbox', () => {
  const compiled = compileSnippets(snippets);

  it.each(Object.entries(compiled))('%s', (_title, { found, announced, texts }) => {
    expect(found, texts.join('\n')).toEqual(announced);
  });
});
