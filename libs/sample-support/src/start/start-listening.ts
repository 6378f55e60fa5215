import type { INestApplication } from '@nestjs/common';

/** Answers on this machine only, then lets out what was logged so far and says where it listens. */
export async function startListening(app: INestApplication, name: string, port: number): Promise<void> {
  app.enableShutdownHooks();
  await app.listen(port, '127.0.0.1');
  app.flushLogs();
  process.stdout.write(`${name} listens on ${await app.getUrl()}\n`);
}
