import { NestFactory } from '@nestjs/core';
import { appModule, Environment, outboxOptions } from 'orders-app';
import { readEnvironment } from 'sample-support';
import { DeadlyTransport } from './deadly-transport.js';

// Program: the dispatcher of the orders application, with a transport to `shipping` that dies at the worst moment.

const environment = readEnvironment(Environment, process.env);
const { destinations, routes, dispatcher } = await outboxOptions(environment);

const shipping = {
  transport: new DeadlyTransport(destinations.shipping.transport, Number(process.env.DIES_AFTER)),
  // Its successor has to wait for the lease to end; the default of 30 s is a long time to watch.
  leaseMs: 4000,
  publishTimeoutMs: 3500,
  // Orders share no lane, so this many are taken at once, and all those that are let through are on their way.
  batchesInFlight: 16,
};

await NestFactory.createApplicationContext(
  await appModule(environment, {
    destinations: { shipping },
    routes: routes.filter(({ to }) => to.includes('shipping')),
    dispatcher,
  }),
);
