import { ConflictException, Injectable, NotFoundException } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { EmitsEvent } from 'nestjs-transactional-outbox';
import { OrderCancelled, OrderPaid, OrderPlaced } from 'order-events';
import { Repository } from 'typeorm';
import type { ListOrdersDto } from './list-orders.dto.js';
import { Order, type OrderStatus } from './order.entity.js';
import type { PlaceOrderDto } from './place-order.dto.js';

@Injectable()
export class OrdersService {
  constructor(@InjectRepository(Order) private readonly orders: Repository<Order>) {}

  @EmitsEvent(OrderPlaced, ({ id, sku, quantity, amountCents }: Order) => ({ orderId: id, sku, quantity, amountCents }))
  place(order: PlaceOrderDto): Promise<Order> {
    return this.orders.save(this.orders.create(order));
  }

  @EmitsEvent(OrderPaid, ({ id, amountCents }: Order) => ({ orderId: id, amountCents }))
  pay(id: string): Promise<Order> {
    return this.moveTo('paid', id, ['placed']);
  }

  @EmitsEvent(OrderCancelled, ({ id }: Order, _id: string, reason: string) => ({ orderId: id, reason }))
  cancel(id: string, _reason: string): Promise<Order> {
    return this.moveTo('cancelled', id, ['placed', 'paid']);
  }

  list({ status, limit }: ListOrdersDto): Promise<Order[]> {
    return this.orders.find({
      where: status === undefined ? {} : { status },
      order: { placedAt: 'desc' },
      take: limit,
    });
  }

  async get(id: string): Promise<Order> {
    return (await this.orders.findOneBy({ id })) ?? this.unknown(id);
  }

  /** Locks the order to the end of the transaction: of two requests at once, the second one sees what the first did. */
  private async moveTo(status: OrderStatus, id: string, from: readonly OrderStatus[]): Promise<Order> {
    const order = await this.orders.findOne({ where: { id }, lock: { mode: 'pessimistic_write' } });
    if (order === null) return this.unknown(id);
    if (!from.includes(order.status)) throw new ConflictException(`order ${id} is already ${order.status}`);
    return this.orders.save({ ...order, status });
  }

  private unknown(id: string): never {
    throw new NotFoundException(`there is no order ${id}`);
  }
}
