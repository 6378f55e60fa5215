import type { DataSource } from 'typeorm';
import {
  DataSourceClient,
  type OutboxNames,
  PostgresLogConversion,
  PostgresPartitionStore,
  PostgresRetentionStore,
  Turns,
} from '../store/index.js';
import { PartitionService } from './partition.service.js';
import { RetentionService } from './retention.service.js';

// An application and the command line take turns at the same upkeep, so the names of the turns are said here and nowhere else.

export function partitionServiceOn(dataSource: DataSource, names: OutboxNames): PartitionService {
  const parts = [
    new DataSourceClient(dataSource),
    names,
    new Turns(dataSource, `partitions of ${names.event}`),
  ] as const;
  return new PartitionService(new PostgresPartitionStore(...parts), new PostgresLogConversion(...parts));
}

export function retentionServiceOn(
  dataSource: DataSource,
  names: OutboxNames,
  partitions = partitionServiceOn(dataSource, names),
): RetentionService {
  const turns = new Turns(dataSource, `retention of ${names.event}`);
  return new RetentionService(new PostgresRetentionStore(new DataSourceClient(dataSource), names, turns), partitions);
}
