import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Intake } from '../intake.js';
import { ReceiptsModule } from '../receipts/receipts.module.js';
import { InventoryService } from './inventory.service.js';
import { InventoryEventsController } from './inventory-events.controller.js';
import { InventoryListener } from './inventory-listener.js';
import { inventoryMessagesController } from './inventory-messages.controller.js';
import { Reservation } from './reservation.entity.js';
import { ReservationsController } from './reservations.controller.js';

@Module({
  imports: [TypeOrmModule.forFeature([Reservation]), ReceiptsModule],
  controllers: [ReservationsController],
  providers: [InventoryService],
})
class InventoryModule {}

export function inventoryModule(intake: Intake): DynamicModule {
  const module = InventoryModule;
  if (intake.kind === 'in-process') return { module, providers: [InventoryListener] };
  if (intake.kind === 'http') return { module, controllers: [InventoryEventsController] };
  return { module, controllers: [inventoryMessagesController(intake.placeOf('inventory'))] };
}
