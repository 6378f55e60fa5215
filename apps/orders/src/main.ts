import { ValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
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
import { outboxOptions } from './outbox-options.js';

await startOrExplain('orders', () => {
  const environment = readEnvironment(Environment, process.env);
  return environment.ROLE === 'dispatcher' ? startDispatcher(environment) : startApi(environment);
});

async function startApi(environment: Environment): Promise<void> {
  const metrics = metricsModule(startMetrics());
  const module = await appModule(environment, await outboxOptions(environment), metrics);
  const app = await NestFactory.create(module, quietUntilStarted);
  app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true }));
  await startListening(app, `orders (${environment.ROLE})`, environment.PORT);
}

async function startDispatcher(environment: Environment): Promise<void> {
  const module = await appModule(environment, await outboxOptions(environment));
  const app = await NestFactory.createApplicationContext(module, quietUntilStarted);
  app.enableShutdownHooks();
  app.flushLogs();
  process.stdout.write('orders (dispatcher) runs\n');
}
