import 'reflect-metadata';
import { type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OutboxModule } from 'nestjs-transactional-outbox';
import { EntitySchema } from 'typeorm';
import type { BenchDatabase } from '../measure/bench-server.js';
import { BenchNoted, BenchStepped } from '../sides/bench-events.js';
import type { SoakDestination } from './soak-destination.js';

export interface SoakOrder {
  id: number;
  amountCents: number;
}

export const SoakOrderEntity = new EntitySchema<SoakOrder>({
  name: 'SoakOrder',
  tableName: 'soak_order',
  columns: { id: { type: 'int', primary: true }, amountCents: { type: 'int' } },
});

/** Order rows, and aggregates of the ordered events. Their number is fixed: only what the library leaves may grow. */
export const ORDERS = 1000;

/** One application that emits and dispatches, at the library's defaults but for quicker retries and pauses. */
export async function startSoakApp(
  database: BenchDatabase,
  destinations: { readonly steady: SoakDestination; readonly shaky: SoakDestination },
): Promise<INestApplicationContext> {
  const patience = { retryBaseMs: 200, pauseBaseMs: 200, pauseCapMs: 2000 };
  const module = {
    module: class SoakModule {},
    imports: [
      TypeOrmModule.forRoot({ type: 'postgres', url: database.url, entities: [SoakOrderEntity], synchronize: true }),
      OutboxModule.forRoot({
        destinations: {
          steady: { transport: destinations.steady, ...patience },
          shaky: { transport: destinations.shaky, ...patience },
        },
        routes: [{ events: [BenchNoted, BenchStepped], to: ['steady', 'shaky'] }],
        migrate: 'auto',
      }),
    ],
  };
  // Outages are warned about, and there is one every few minutes.
  const app = await NestFactory.createApplicationContext(module, { logger: ['error'] });
  await database.query('insert into soak_order (id, "amountCents") select n, 0 from generate_series(1, $1::int) n', [
    ORDERS,
  ]);
  return app;
}
