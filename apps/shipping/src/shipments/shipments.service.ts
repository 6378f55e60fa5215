import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { OrderPlaced } from 'order-events';
import { Repository } from 'typeorm';
import { Shipment } from './shipment.entity.js';

/** Called by the consumer `shipping`: its repository then takes part in the transaction that records the event. */
@Injectable()
export class ShipmentsService {
  constructor(@InjectRepository(Shipment) private readonly shipments: Repository<Shipment>) {}

  async prepare({ orderId, sku, quantity }: OrderPlaced): Promise<void> {
    await this.shipments.insert({ orderId, sku, quantity });
  }

  async release(orderId: string): Promise<void> {
    await this.shipments.update({ orderId }, { status: 'released' });
  }

  async cancel(orderId: string): Promise<void> {
    await this.shipments.update({ orderId }, { status: 'cancelled' });
  }

  newest(): Promise<Shipment[]> {
    return this.shipments.find({ order: { createdAt: 'desc' }, take: 100 });
  }
}
