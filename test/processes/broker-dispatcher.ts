import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OutboxModule, type OutgoingEvent, type PublishOutcome, type Transport } from 'nestjs-transactional-outbox';
import { type BrokerChoice, transportOf } from './broker-choice.js';

// Dispatches what the queue of DATABASE holds for the destination `memory` to BROKER. When DIES_AFTER events were
// acknowledged, it kills itself, before it has written down the outcomes of the last batch.

const { DATABASE, BROKER = '{}', DIES_AFTER } = process.env;

class MortalTransport implements Transport {
  private readonly transport = transportOf(JSON.parse(BROKER) as BrokerChoice); // written by the test
  readonly capabilities = this.transport.capabilities;
  private acknowledged = 0;

  async connect(): Promise<void> {
    await this.transport.connect?.();
  }

  async publish(batch: readonly OutgoingEvent[], signal: AbortSignal): Promise<readonly PublishOutcome[]> {
    const outcomes = await this.transport.publish(batch, signal);
    this.acknowledged += outcomes.filter(({ kind }) => kind === 'delivered').length;
    if (DIES_AFTER !== undefined && this.acknowledged >= Number(DIES_AFTER)) process.kill(process.pid, 'SIGKILL');
    return outcomes;
  }

  async close(): Promise<void> {
    await this.transport.close?.();
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'postgres', url: DATABASE, retryAttempts: 0, applicationName: 'dispatcher' }),
    OutboxModule.forRoot({
      destinations: {
        memory: {
          transport: new MortalTransport(),
          leaseMs: 2000,
          publishTimeoutMs: 1500,
          maxAttempts: 1000,
          retryBaseMs: 100,
          retryCapMs: 500,
          pauseBaseMs: 100,
          pauseCapMs: 500,
        },
      },
      routes: [{ events: ['order.step'], to: ['memory'] }],
      dispatcher: { pollIntervalMs: 200 },
    }),
  ],
})
class DispatcherModule {}

const app = await NestFactory.createApplicationContext(DispatcherModule, { logger: ['error', 'warn'] });
app.enableShutdownHooks();
process.stdout.write('ready\n');
