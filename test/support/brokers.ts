import { connect } from 'node:net';

/** A message broker that runs before the tests start; they use names of their own in it. */
export interface RunningBroker {
  readonly url: string;
  /**
   * Whether tests may do without it: where nothing listens they are skipped, and say so. Where `CI` is set it must be
   * there, so that nobody mistakes silence for success.
   */
  readonly mayLack: boolean;
}

export const redis = await findBroker('Redis', 'REDIS_URL', 'redis://127.0.0.1:6379', 'docker compose up -d redis');
export const rabbitmq = await findBroker(
  'RabbitMQ',
  'RABBITMQ_URL',
  'amqp://guest:guest@127.0.0.1:5672',
  'docker compose up -d rabbitmq',
);
export const nats = await findBroker('NATS', 'NATS_URL', 'nats://127.0.0.1:4222', 'docker compose up -d nats');

async function findBroker(
  name: string,
  variable: string,
  usualUrl: string,
  howToStart: string,
): Promise<RunningBroker> {
  const url = process.env[variable] ?? usualUrl;
  const mayLack = !process.env.CI && !(await listens(new URL(url)));
  if (mayLack) {
    console.warn(`\n${name} DOES NOT RUN: tests with it are SKIPPED. Start it (${howToStart}), or set ${variable}.\n`);
  }
  return { url, mayLack };
}

function listens({ hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    const answer = (isOpen: boolean) => () => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', answer(true)).once('error', answer(false)).setTimeout(2000, answer(false));
  });
}
