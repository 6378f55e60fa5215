import { Controller, type Type, UseGuards } from '@nestjs/common';
import { EventPattern } from '@nestjs/microservices';
import { InboxConsumer, InboxEvent, InboxGuard } from 'nestjs-transactional-outbox';
import { OrderCancelled, OrderPaid, OrderPlaced } from 'order-events';
import { LogReceipts } from '../receipts/log-receipts.decorator.js';
import { ShipmentsService } from './shipments.service.js';

/** What ShippingEventsController is for HTTP, for the messages of a broker. A place is known only when it is configured. */
export function shippingMessagesController(place: string): Type {
  @Controller()
  @LogReceipts('shipping')
  class ShippingMessagesController {
    constructor(private readonly shipments: ShipmentsService) {}

    @EventPattern<string>(place)
    @UseGuards(InboxGuard)
    @InboxConsumer('shipping')
    async onOrderEvent(
      @InboxEvent(OrderPlaced, OrderPaid, OrderCancelled) event: OrderPlaced | OrderPaid | OrderCancelled,
    ): Promise<void> {
      await this.shipments.follow(event);
    }
  }
  return ShippingMessagesController;
}
