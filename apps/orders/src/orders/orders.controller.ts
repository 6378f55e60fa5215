import { Body, Controller, Get, HttpCode, Param, ParseUUIDPipe, Post, Query } from '@nestjs/common';
import { CancelOrderDto } from './cancel-order.dto.js';
import { ListOrdersDto } from './list-orders.dto.js';
import type { Order } from './order.entity.js';
import { OrdersService } from './orders.service.js';
import { PlaceOrderDto } from './place-order.dto.js';

@Controller('orders')
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Post()
  place(@Body() order: PlaceOrderDto): Promise<Order> {
    return this.orders.place(order);
  }

  @Post(':id/pay')
  @HttpCode(200)
  pay(@Param('id', ParseUUIDPipe) id: string): Promise<Order> {
    return this.orders.pay(id);
  }

  @Post(':id/cancel')
  @HttpCode(200)
  cancel(@Param('id', ParseUUIDPipe) id: string, @Body() { reason }: CancelOrderDto): Promise<Order> {
    return this.orders.cancel(id, reason);
  }

  @Get()
  list(@Query() query: ListOrdersDto): Promise<Order[]> {
    return this.orders.list(query);
  }

  @Get(':id')
  get(@Param('id', ParseUUIDPipe) id: string): Promise<Order> {
    return this.orders.get(id);
  }
}
