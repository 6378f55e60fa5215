import { Injectable } from '@nestjs/common';
import { InboxEvent, OnOutboxEvent } from 'nestjs-transactional-outbox';
import { OrderCancelled, OrderPaid, OrderPlaced } from 'order-events';
import { LogReceipts } from '../receipts/log-receipts.decorator.js';
import { ShipmentsService } from './shipments.service.js';

/** What ShippingEventsController is for HTTP, for the outbox of the application that this module is a part of. */
@Injectable()
@LogReceipts('shipping')
export class ShippingListener {
  constructor(private readonly shipments: ShipmentsService) {}

  @OnOutboxEvent('shipping', OrderPlaced, OrderPaid, OrderCancelled)
  async onOrderEvent(
    @InboxEvent(OrderPlaced, OrderPaid, OrderCancelled) event: OrderPlaced | OrderPaid | OrderCancelled,
  ): Promise<void> {
    await this.shipments.follow(event);
  }
}
