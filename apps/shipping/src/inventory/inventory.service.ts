import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type OrderCancelled, OrderPlaced } from 'order-events';
import { Repository } from 'typeorm';
import { Reservation } from './reservation.entity.js';

/** Called by the consumer `inventory`: its repository then takes part in the transaction that records the event. */
@Injectable()
export class InventoryService {
  constructor(@InjectRepository(Reservation) private readonly reservations: Repository<Reservation>) {}

  async follow(event: OrderPlaced | OrderCancelled): Promise<void> {
    if (event instanceof OrderPlaced) await this.reserve(event);
    else await this.giveBack(event.orderId);
  }

  newest(): Promise<Reservation[]> {
    return this.reservations.find({ order: { createdAt: 'desc' }, take: 100 });
  }

  private async reserve({ orderId, sku, quantity }: OrderPlaced): Promise<void> {
    await this.reservations.insert({ orderId, sku, quantity });
  }

  private async giveBack(orderId: string): Promise<void> {
    await this.reservations.update({ orderId }, { status: 'given_back' });
  }
}
