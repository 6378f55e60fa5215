export type { OutboxDashboardOptions } from './dashboard-options.js';
export { OutboxDashboardModule } from './outbox-dashboard.module.js';
