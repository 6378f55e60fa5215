import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import {
  metricsModule,
  quietUntilStarted,
  readEnvironment,
  startListening,
  startMetrics,
  startOrExplain,
} from 'sample-support';
import { appModule } from './app.module.js';
import { Environment } from './environment.js';
import { loadServers } from './servers/load-servers.js';

await startOrExplain('shipping', () => start(readEnvironment(Environment, process.env)));

async function start(environment: Environment): Promise<void> {
  const app = await NestFactory.create<NestExpressApplication>(appModule(environment, metricsModule(startMetrics())), {
    ...quietUntilStarted,
    // The signature of an event covers the very bytes of its body.
    rawBody: true,
  });
  app.useBodyParser('json', { type: ['application/json', 'application/*+json'] });
  for (const server of await loadServers(environment)) app.connectMicroservice(server);
  await app.startAllMicroservices();
  await startListening(app, 'shipping', environment.PORT);
}
