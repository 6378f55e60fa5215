import { ValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { appModule } from './app.module.js';
import { type Environment, readEnvironment } from './environment.js';
import { explainStartFailure } from './explain-start-failure.js';

// Until it has started, the application says nothing; if it cannot start, one sentence says why.
const quietUntilStarted = { bufferLogs: true, autoFlushLogs: false, abortOnError: false };

try {
  const environment = readEnvironment(process.env);
  await (environment.ROLE === 'dispatcher' ? startDispatcher(environment) : startApi(environment));
} catch (error) {
  process.stderr.write(`orders: ${explainStartFailure(error)}\n`);
  process.exit(1);
}

async function startApi(environment: Environment): Promise<void> {
  const app = await NestFactory.create(appModule(environment), quietUntilStarted);
  app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true }));
  app.enableShutdownHooks();
  await app.listen(environment.PORT, '127.0.0.1');
  app.flushLogs();
  process.stdout.write(`orders (${environment.ROLE}) listens on ${await app.getUrl()}\n`);
}

async function startDispatcher(environment: Environment): Promise<void> {
  const app = await NestFactory.createApplicationContext(appModule(environment), quietUntilStarted);
  app.enableShutdownHooks();
  app.flushLogs();
  process.stdout.write('orders (dispatcher) runs\n');
}
