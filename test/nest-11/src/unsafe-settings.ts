import 'reflect-metadata';
import { MessageHandlerErrorBehavior, RabbitRPC, RabbitSubscribe } from '@golevelup/nestjs-rabbitmq';
import { Injectable, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Inbox } from 'nestjs-transactional-outbox';
import { shippingImports } from './shipping.js';

// Starts an application with each of these settings and says, in a line of JSON each, with what it was refused.

const queue = process.env.QUEUE;
const { NACK } = MessageHandlerErrorBehavior;
type Setting = readonly [name: string, handler: MethodDecorator, connection?: Parameters<typeof shippingImports>[1]];

const SETTINGS: readonly Setting[] = [
  ['rpc', RabbitRPC({ queue, allowNonJsonMessages: true })],
  ['batches', RabbitSubscribe({ queue, allowNonJsonMessages: true, batchOptions: { size: 2 } })],
  ['noAck', RabbitSubscribe({ queue, allowNonJsonMessages: true, queueOptions: { consumerOptions: { noAck: true } } })],
  ['errorBehavior', RabbitSubscribe({ queue, allowNonJsonMessages: true, errorBehavior: NACK })],
  ['errorHandler', RabbitSubscribe({ queue, allowNonJsonMessages: true, errorHandler: () => undefined })],
  ['JSON only', RabbitSubscribe({ queue })],
  [
    'errorBehavior of the connection',
    RabbitSubscribe({ queue, allowNonJsonMessages: true }),
    { defaultSubscribeErrorBehavior: NACK },
  ],
  [
    'errorBehavior by name',
    RabbitSubscribe({ name: 'placed', allowNonJsonMessages: true }),
    { handlers: { placed: [{ queue }, { queue, errorBehavior: NACK }] } },
  ],
  ['nothing unsafe', RabbitSubscribe({ queue, createQueueIfNotExists: false }), { deserializer: String }],
];

for (const [name, subscribes, connection] of SETTINGS) {
  const refusal = await start(consumerOf(subscribes), { name, ...connection }); // golevelup knows connections by name
  process.stdout.write(`${JSON.stringify({ name, refusal })}\n`);
}
process.exit(0);

function consumerOf(subscribes: MethodDecorator): Type {
  @Injectable()
  class Consumer {
    @subscribes
    @Inbox('shipping')
    async onOrderPlaced(): Promise<void> {
      // never called
    }
  }
  return Consumer;
}

async function start(consumer: Type, connection: Setting[2]): Promise<string | undefined> {
  const module = { module: class Application {}, imports: shippingImports({}, connection), providers: [consumer] };
  try {
    const app = await NestFactory.createApplicationContext(module, { abortOnError: false, logger: false });
    await app.close();
    return undefined;
  } catch (error) {
    return String(error);
  }
}
