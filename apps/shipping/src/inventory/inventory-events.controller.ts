import { Controller, HttpCode, Post, UseGuards } from '@nestjs/common';
import { InboxConsumer, InboxEvent, InboxGuard } from 'nestjs-transactional-outbox';
import { OrderCancelled, OrderPlaced } from 'order-events';
import { LogReceipts } from '../receipts/log-receipts.decorator.js';
import { InventoryService } from './inventory.service.js';

/** The same events as `shipping` gets, but a consumer of its own: each of the two processes an event once. */
@Controller('events/inventory')
@LogReceipts('inventory')
export class InventoryEventsController {
  constructor(private readonly inventory: InventoryService) {}

  @Post()
  @HttpCode(200)
  @UseGuards(InboxGuard)
  @InboxConsumer('inventory')
  async onOrderEvent(@InboxEvent(OrderPlaced, OrderCancelled) event: OrderPlaced | OrderCancelled): Promise<void> {
    await this.inventory.follow(event);
  }
}
