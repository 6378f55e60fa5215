import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { eventually } from '../support/eventually.js';
import { noted, Order, type OutboxApp, startOutboxApp } from '../support/outbox-app.js';

describe('an entity that is expected to change with an event', () => {
  let app: OutboxApp;
  let warnings: string[];
  beforeEach(async () => {
    warnings = [];
    vi.spyOn(Logger.prototype, 'warn').mockImplementation((message: unknown) => {
      warnings.push(String(message));
    });
    app = await startOutboxApp({ outbox: { expectEventsFor: [Order] } });
  });
  afterEach(async () => {
    await app.close();
    vi.restoreAllMocks();
  });

  const order = (): Order => Object.assign(new Order(), { id: randomUUID(), amountCents: 1 });
  const warned = (): string[] => warnings.filter((line) => line.startsWith('rows changed without an event'));

  it('is reported when it was saved, updated or removed and nothing was emitted', async () => {
    const saved = await app.orders.save(order());
    expect(warned()).toEqual(['rows changed without an event entities="Order"']);
    await app.outbox.transaction(async () => {
      await app.orders.update({ id: saved.id }, { amountCents: 2 });
    });
    expect(warned()).toHaveLength(2);
    await app.orders.remove(saved);
    expect(warned()).toHaveLength(3);
  });

  it('is not reported when the transaction emitted, whatever came first', async () => {
    await app.service.place(order());
    await app.dataSource.transaction(async (manager) => {
      const one = order();
      await app.outbox.emit(manager, noted(one.id));
      await manager.transaction((nested) => nested.save(one));
    });
    await eventually(async () => expect(await app.orders.count()).toBe(2));
    expect(warned()).toEqual([]);
  });

  it('is not reported when the transaction rolled back, nor is the next one on that connection blamed', async () => {
    await expect(
      app.dataSource.transaction(async (manager) => {
        await manager.save(order());
        throw new Error('after all');
      }),
    ).rejects.toThrow('after all');
    await app.dataSource.transaction((manager) => manager.query('select 1'));
    expect(warned()).toEqual([]);
  });
});
