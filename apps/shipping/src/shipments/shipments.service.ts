import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type OrderCancelled, OrderPaid, OrderPlaced } from 'order-events';
import { Repository } from 'typeorm';
import { Shipment, type ShipmentStatus } from './shipment.entity.js';

/** Called by the consumer `shipping`: its repository then takes part in the transaction that records the event. */
@Injectable()
export class ShipmentsService {
  constructor(@InjectRepository(Shipment) private readonly shipments: Repository<Shipment>) {}

  async follow(event: OrderPlaced | OrderPaid | OrderCancelled): Promise<void> {
    if (event instanceof OrderPlaced) await this.prepare(event);
    else if (event instanceof OrderPaid) await this.moveTo('released', event.orderId);
    else await this.moveTo('cancelled', event.orderId);
  }

  newest(): Promise<Shipment[]> {
    return this.shipments.find({ order: { createdAt: 'desc' }, take: 100 });
  }

  private async prepare({ orderId, sku, quantity }: OrderPlaced): Promise<void> {
    await this.shipments.insert({ orderId, sku, quantity });
  }

  private async moveTo(status: ShipmentStatus, orderId: string): Promise<void> {
    await this.shipments.update({ orderId }, { status });
  }
}
