import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ReceiptsModule } from '../receipts/receipts.module.js';
import { InventoryService } from './inventory.service.js';
import { InventoryEventsController } from './inventory-events.controller.js';
import { Reservation } from './reservation.entity.js';
import { ReservationsController } from './reservations.controller.js';

@Module({
  imports: [TypeOrmModule.forFeature([Reservation]), ReceiptsModule],
  controllers: [InventoryEventsController, ReservationsController],
  providers: [InventoryService],
})
export class InventoryModule {}
