import { Injectable } from '@nestjs/common';
import { InboxEvent, OnOutboxEvent } from 'nestjs-transactional-outbox';
import { OrderCancelled, OrderPlaced } from 'order-events';
import { LogReceipts } from '../receipts/log-receipts.decorator.js';
import { InventoryService } from './inventory.service.js';

/** What InventoryEventsController is for HTTP, for the outbox of the application that this module is a part of. */
@Injectable()
@LogReceipts('inventory')
export class InventoryListener {
  constructor(private readonly inventory: InventoryService) {}

  @OnOutboxEvent('inventory', OrderPlaced, OrderCancelled)
  async onOrderEvent(@InboxEvent(OrderPlaced, OrderCancelled) event: OrderPlaced | OrderCancelled): Promise<void> {
    await this.inventory.follow(event);
  }
}
