import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { appModule } from './app.module.js';
import { type Environment, readEnvironment } from './environment.js';
import { explainStartFailure } from './explain-start-failure.js';

try {
  await start(readEnvironment(process.env));
} catch (error) {
  process.stderr.write(`shipping: ${explainStartFailure(error)}\n`);
  process.exit(1);
}

async function start(environment: Environment): Promise<void> {
  const app = await NestFactory.create<NestExpressApplication>(appModule(environment), {
    // The signature of an event covers the very bytes of its body.
    rawBody: true,
    // Until it has started, the application says nothing; if it cannot start, one sentence says why.
    bufferLogs: true,
    autoFlushLogs: false,
    abortOnError: false,
  });
  app.useBodyParser('json', { type: ['application/json', 'application/*+json'] });
  app.enableShutdownHooks();
  await app.listen(environment.PORT, '127.0.0.1');
  app.flushLogs();
  process.stdout.write(`shipping listens on ${await app.getUrl()}\n`);
}
