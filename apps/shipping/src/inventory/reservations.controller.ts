import { Controller, Get } from '@nestjs/common';
import { InventoryService } from './inventory.service.js';
import type { Reservation } from './reservation.entity.js';

@Controller('reservations')
export class ReservationsController {
  constructor(private readonly inventory: InventoryService) {}

  @Get()
  newest(): Promise<Reservation[]> {
    return this.inventory.newest();
  }
}
