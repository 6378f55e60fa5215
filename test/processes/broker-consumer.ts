import 'reflect-metadata';
import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventPattern, type MicroserviceOptions } from '@nestjs/microservices';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Inbox, InboxEnvelope, InboxModule, InboxTransaction, type ReceivedEvent } from 'nestjs-transactional-outbox';
import { type EntityManager, type EntitySubscriberInterface, EventSubscriber } from 'typeorm';
import { type BrokerChoice, serverOf } from './broker-choice.js';

// Consumes what BROKER brings and writes a row of `effects` in DATABASE for each event. When DIES_AFTER transactions were
// committed it kills itself, before the last message is acknowledged.

const { DATABASE, BROKER = '{}', DIES_AFTER } = process.env;

@EventSubscriber()
class MortalCommits implements EntitySubscriberInterface {
  private committed = 0;

  afterTransactionCommit(): void {
    this.committed += 1;
    if (this.committed === Number(DIES_AFTER)) process.kill(process.pid, 'SIGKILL');
  }
}

@Controller()
class Shipping {
  @Inbox('shipping')
  @EventPattern<string[]>(['order.step', 'outbox.event.order'])
  async onStep(@InboxEnvelope() event: ReceivedEvent, @InboxTransaction() manager: EntityManager): Promise<void> {
    await manager.query('insert into effects (event_id, order_id, step) values ($1, $2, $3)', [
      event.id,
      event.aggregateId,
      String(event.sequence),
    ]);
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: DATABASE,
      retryAttempts: 0,
      applicationName: 'consumer',
      subscribers: DIES_AFTER === undefined ? [] : [MortalCommits],
    }),
    InboxModule.forRoot({ allowUnsigned: true, retryAfterSeconds: 1 }),
  ],
  controllers: [Shipping],
})
class ConsumerModule {}

const service = await NestFactory.createMicroservice<MicroserviceOptions>(ConsumerModule, {
  ...serverOf(JSON.parse(BROKER) as BrokerChoice), // written by the test
  logger: ['error', 'warn'],
});
service.enableShutdownHooks();
await service.listen();
process.stdout.write('ready\n');
