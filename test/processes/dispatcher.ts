import 'reflect-metadata';
import { Module, type OnModuleDestroy } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OutboxModule, type OutgoingEvent, type PublishOutcome, type Transport } from 'nestjs-transactional-outbox';
import { HttpTransport } from 'nestjs-transactional-outbox/http';

// Dispatches what the queue of DATABASE holds for the destination `memory` to RECEIVER, and says on standard output what
// it does: `ready`, `publishing <id>`, `published <id>`, `pausing`, `closing`. Before the publish that PAUSE_BEFORE or
// DIE_BEFORE counts (from 1) it hangs, or kills itself.

const number = (name: string, fallback: number): number => Number(process.env[name] ?? fallback);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

process.on('uncaughtExceptionMonitor', (error, origin) => say(`${origin} ${String(error)}`));

class TellingTransport implements Transport {
  private readonly http = new HttpTransport({ url: process.env.RECEIVER ?? '' });
  readonly capabilities = this.http.capabilities;
  private started = 0;

  async publish(batch: readonly OutgoingEvent[], signal: AbortSignal): Promise<readonly PublishOutcome[]> {
    this.started += 1;
    if (this.started === number('DIE_BEFORE', 0)) process.kill(process.pid, 'SIGKILL');
    if (this.started === number('PAUSE_BEFORE', 0)) {
      say('pausing');
      return new Promise(() => undefined);
    }
    for (const { envelope } of batch) say(`publishing ${envelope.id}`);
    const outcomes = await this.http.publish(batch, signal);
    for (const [index, { envelope }] of batch.entries())
      if (outcomes[index]?.kind === 'delivered') say(`published ${envelope.id}`);
    return outcomes;
  }

  close(): Promise<void> {
    return this.http.close();
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env.DATABASE,
      retryAttempts: 0,
      applicationName: 'dispatcher',
    }),
    OutboxModule.forRoot({
      destinations: {
        memory: {
          transport: new TellingTransport(),
          leaseMs: number('LEASE_MS', 1000),
          publishTimeoutMs: number('LEASE_MS', 1000) - 1,
          batchSize: number('BATCH_SIZE', 100),
          concurrency: number('CONCURRENCY', 1),
          batchesInFlight: number('BATCHES_IN_FLIGHT', 1),
        },
      },
      routes: [{ events: ['order.noted', 'order.step', 'order.skippable'], to: ['memory'] }],
      dispatcher: { pollIntervalMs: 50, shutdownGraceMs: number('GRACE_MS', 5000) },
    }),
  ],
})
class DispatcherModule implements OnModuleDestroy {
  onModuleDestroy(): void {
    say('closing');
  }
}

const app = await NestFactory.createApplicationContext(DispatcherModule);
app.enableShutdownHooks();
say('ready');
