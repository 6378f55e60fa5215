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

await startOrExplain('orders', () => {
  const environment = readEnvironment(Environment, process.env);
  return environment.ROLE === 'dispatcher' ? startDispatcher(environment) : startApi(environment);
});

async function startApi(environment: Environment): Promise<void> {
  const app = await NestFactory.create(appModule(environment, metricsModule(startMetrics())), quietUntilStarted);
  app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true }));
  await startListening(app, `orders (${environment.ROLE})`, environment.PORT);
}

async function startDispatcher(environment: Environment): Promise<void> {
  const app = await NestFactory.createApplicationContext(appModule(environment), quietUntilStarted);
  app.enableShutdownHooks();
  app.flushLogs();
  process.stdout.write('orders (dispatcher) runs\n');
}
