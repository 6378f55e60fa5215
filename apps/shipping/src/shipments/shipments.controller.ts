import { Controller, Get } from '@nestjs/common';
import type { Shipment } from './shipment.entity.js';
import { ShipmentsService } from './shipments.service.js';

@Controller('shipments')
export class ShipmentsController {
  constructor(private readonly shipments: ShipmentsService) {}

  @Get()
  newest(): Promise<Shipment[]> {
    return this.shipments.newest();
  }
}
