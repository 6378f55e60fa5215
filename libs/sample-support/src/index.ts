// What the sample applications have in common besides the library they show.
export { databaseModule } from './database/database-module.js';
export { readEnvironment } from './environment/read-environment.js';
export {
  brokerUrlOf,
  IsBrokerUrl,
  IsPlacePrefix,
  IsTransport,
  TRANSPORTS,
  type TransportName,
} from './environment/transports.js';
export { IsDatabaseUrl, IsMigrationMode, IsPortNumber, type MigrationMode } from './environment/variables.js';
export { metricsModule } from './metrics/metrics-module.js';
export { startMetrics } from './metrics/prometheus-metrics.js';
export { quietUntilStarted } from './start/quiet-until-started.js';
export { startListening } from './start/start-listening.js';
export { startOrExplain } from './start/start-or-explain.js';
