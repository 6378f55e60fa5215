import { Controller, HttpCode, Post, UseGuards } from '@nestjs/common';
import { InboxConsumer, InboxEvent, InboxGuard } from 'nestjs-transactional-outbox';
import { OrderCancelled, OrderPaid, OrderPlaced } from 'order-events';
import { LogReceipts } from '../receipts/log-receipts.decorator.js';
import { ShipmentsService } from './shipments.service.js';

@Controller('events/shipping')
@LogReceipts('shipping')
export class ShippingEventsController {
  constructor(private readonly shipments: ShipmentsService) {}

  @Post()
  @HttpCode(200)
  @UseGuards(InboxGuard)
  @InboxConsumer('shipping')
  async onOrderEvent(
    @InboxEvent(OrderPlaced, OrderPaid, OrderCancelled) event: OrderPlaced | OrderPaid | OrderCancelled,
  ): Promise<void> {
    await this.shipments.follow(event);
  }
}
