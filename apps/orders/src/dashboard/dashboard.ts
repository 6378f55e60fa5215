import type { DynamicModule } from '@nestjs/common';
import { OutboxDashboardModule } from 'nestjs-transactional-outbox/dashboard';
import type { Environment } from '../environment.js';
import { operatorOf, TokenGuard } from './token.guard.js';

/** The page on `/outbox`: behind DASHBOARD_TOKEN, or open on a machine for development; else there is none. */
export function dashboard({ DASHBOARD_TOKEN }: Environment): DynamicModule[] {
  if (DASHBOARD_TOKEN !== undefined) {
    const guards = [new TokenGuard(DASHBOARD_TOKEN)];
    return [OutboxDashboardModule.forRoot({ path: 'outbox', guards, operator: operatorOf })];
  }
  return process.env.NODE_ENV === 'development' ? [OutboxDashboardModule.forRoot({ path: 'outbox' })] : [];
}
