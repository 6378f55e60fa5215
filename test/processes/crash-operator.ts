import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  DeadLetterService,
  InboxModule,
  InboxRetentionService,
  OutboxModule,
  RetentionService,
} from 'nestjs-transactional-outbox';
import { HttpTransport } from 'nestjs-transactional-outbox/http';

// Does on DATABASE what an operator asked for, in batches of two where there are batches, and says how much it was:
// `redrive <delivery id> …`; `prune` whatever may go; `prune-inbox` what is older than two days.

const DAY_MS = 86_400_000;

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'postgres', url: process.env.DATABASE, applicationName: 'doomed', retryAttempts: 0 }),
    OutboxModule.forRoot({
      destinations: { memory: { transport: new HttpTransport({ url: 'http://127.0.0.1:9' }) } },
      routes: [],
      dispatcher: { enabled: false },
    }),
    InboxModule.forRoot({ allowUnsigned: true, longestRedeliveryMs: DAY_MS, dedupeWindowMs: 2 * DAY_MS }),
  ],
})
class OperatorModule {}

const [, , task = '', ...ids] = process.argv;
const app = await NestFactory.createApplicationContext(OperatorModule);
const work: Readonly<Record<string, () => Promise<unknown>>> = {
  redrive: () => app.get(DeadLetterService).redrive({ ids }, { by: 'the operator', reason: 'the receiver was mended' }),
  prune: () => app.get(RetentionService).prune({ olderThanMs: 0, batchSize: 2 }),
  'prune-inbox': () => app.get(InboxRetentionService).prune({ batchSize: 2 }),
};
process.stdout.write(`did ${JSON.stringify(await work[task]?.())}\n`);
await app.close();
