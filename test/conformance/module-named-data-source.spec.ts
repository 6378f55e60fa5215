import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { getDataSourceToken, InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import {
  AggregateId,
  EmitsEvent,
  getOutboxToken,
  OutboxDispatcher,
  OutboxEvent,
  OutboxModule,
  OutboxService,
} from 'nestjs-transactional-outbox';
import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { Repository } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { ModuleHarness, outboxOptions } from '../support/module-harness.js';
import { Order, OrderNoted } from '../support/outbox-app.js';

const LEDGER = getDataSourceToken('ledger');

@Injectable()
class Ledger {
  constructor(@InjectRepository(Order, 'ledger') readonly entries: Repository<Order>) {}

  @EmitsEvent(OrderNoted, ({ id, amountCents }: Order) => ({ orderId: id, amountCents }), { dataSource: LEDGER })
  enter(entry: Order): Promise<Order> {
    return this.entries.save(entry);
  }
}

@OutboxEvent('ledger.forgotten', { aggregate: 'ledger' })
class Forgotten {
  @AggregateId()
  entry = '1';
}

@Injectable()
class Forgetful {
  @EmitsEvent(Forgotten, undefined, { dataSource: LEDGER })
  async forget(): Promise<Forgotten> {
    return new Forgotten();
  }
}

@Injectable()
class OnTheDefault {
  @EmitsEvent(Forgotten)
  async forget(): Promise<Forgotten> {
    return new Forgotten();
  }
}

describe('an application whose only DataSource has a name', () => {
  const harness = new ModuleHarness();
  const transport = new MemoryTransport();
  let database: TestDatabase;
  beforeEach(async () => {
    database = await harness.database();
  });
  afterEach(() => harness.end());

  it('has an outbox in it, and needs no default one', async () => {
    const module = await harness.start({
      imports: [
        await harness.typeOrm(database, { name: 'ledger' }),
        TypeOrmModule.forFeature([Order], 'ledger'),
        OutboxModule.forRoot({ dataSource: LEDGER, ...outboxOptions(transport) }),
      ],
      providers: [Ledger],
    });
    const entry = Object.assign(new Order(), { id: randomUUID(), amountCents: 5 });
    await module.get(Ledger).enter(entry);
    await module.get<OutboxDispatcher>(getOutboxToken(OutboxDispatcher, LEDGER)).drain();
    expect(transport.accepted.map(({ envelope }) => envelope.aggregateId)).toEqual([entry.id]);
    expect(() => module.get(OutboxService)).toThrow(/OutboxService/);
  });

  it('does not start when the outbox is registered for the default one', async () => {
    const started = harness.start({
      imports: [await harness.typeOrm(database, { name: 'ledger' }), OutboxModule.forRoot(outboxOptions())],
    });
    await expect(started).rejects.toThrow(/DataSource/);
  });

  it('does not start when a method emits into an outbox that is not there', async () => {
    const started = harness.start({
      imports: [
        await harness.typeOrm(database, { name: 'ledger' }),
        OutboxModule.forRoot({ dataSource: LEDGER, ...outboxOptions() }),
      ],
      providers: [OnTheDefault],
    });
    await expect(started).rejects.toThrow(/can't resolve dependencies of the OnTheDefault.*OutboxService/s);
  });

  it('does not start when one of its methods emits an event that no route names', async () => {
    const started = harness.start({
      imports: [
        await harness.typeOrm(database, { name: 'ledger' }),
        OutboxModule.forRoot({ dataSource: LEDGER, ...outboxOptions() }),
      ],
      providers: [Forgetful],
    });
    await expect(started).rejects.toThrow(
      'Forgetful.forget() emits "ledger.forgotten" (Forgotten), but no route names it. Add it to "routes"',
    );
  });
});
