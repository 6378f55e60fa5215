import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ReceiptsModule } from '../receipts/receipts.module.js';
import { Shipment } from './shipment.entity.js';
import { ShipmentsController } from './shipments.controller.js';
import { ShipmentsService } from './shipments.service.js';
import { ShippingEventsController } from './shipping-events.controller.js';

@Module({
  imports: [TypeOrmModule.forFeature([Shipment]), ReceiptsModule],
  controllers: [ShippingEventsController, ShipmentsController],
  providers: [ShipmentsService],
})
export class ShipmentsModule {}
