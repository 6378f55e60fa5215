import type { DynamicModule } from '@nestjs/common';
import type { Intake } from './intake.js';
import { inventoryModule } from './inventory/inventory.module.js';
import { shipmentsModule } from './shipments/shipments.module.js';

/** Who processes events here, each of them once for itself. */
export const CONSUMERS = ['shipping', 'inventory'] as const;

export function consumerModules(intake: Intake): DynamicModule[] {
  return [shipmentsModule(intake), inventoryModule(intake)];
}
