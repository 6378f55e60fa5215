import { Controller, type Type, UseGuards } from '@nestjs/common';
import { EventPattern } from '@nestjs/microservices';
import { InboxConsumer, InboxEvent, InboxGuard } from 'nestjs-transactional-outbox';
import { OrderCancelled, OrderPlaced } from 'order-events';
import { LogReceipts } from '../receipts/log-receipts.decorator.js';
import { InventoryService } from './inventory.service.js';

/** What InventoryEventsController is for HTTP, for the messages of a broker. A place is known only when it is configured. */
export function inventoryMessagesController(place: string): Type {
  @Controller()
  @LogReceipts('inventory')
  class InventoryMessagesController {
    constructor(private readonly inventory: InventoryService) {}

    @EventPattern<string>(place)
    @UseGuards(InboxGuard)
    @InboxConsumer('inventory')
    async onOrderEvent(@InboxEvent(OrderPlaced, OrderCancelled) event: OrderPlaced | OrderCancelled): Promise<void> {
      await this.inventory.follow(event);
    }
  }
  return InventoryMessagesController;
}
