import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Intake } from '../intake.js';
import { ReceiptsModule } from '../receipts/receipts.module.js';
import { Shipment } from './shipment.entity.js';
import { ShipmentsController } from './shipments.controller.js';
import { ShipmentsService } from './shipments.service.js';
import { ShippingEventsController } from './shipping-events.controller.js';
import { ShippingListener } from './shipping-listener.js';
import { shippingMessagesController } from './shipping-messages.controller.js';

@Module({
  imports: [TypeOrmModule.forFeature([Shipment]), ReceiptsModule],
  controllers: [ShipmentsController],
  providers: [ShipmentsService],
})
class ShipmentsModule {}

export function shipmentsModule(intake: Intake): DynamicModule {
  const module = ShipmentsModule;
  if (intake.kind === 'in-process') return { module, providers: [ShippingListener] };
  if (intake.kind === 'http') return { module, controllers: [ShippingEventsController] };
  return { module, controllers: [shippingMessagesController(intake.placeOf('shipping'))] };
}
