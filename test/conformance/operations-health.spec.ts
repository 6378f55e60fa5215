import { randomUUID } from 'node:crypto';
import { Controller, Get, Module } from '@nestjs/common';
import { HealthCheck, type HealthCheckResult, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { DeadLetterService, DestinationService, OutboxHealthService } from 'nestjs-transactional-outbox';
import { OutboxHealthIndicator } from 'nestjs-transactional-outbox/health';
import { MemoryTransport, type MemoryTransportOptions } from 'nestjs-transactional-outbox/memory';
import { afterEach, describe, expect, it } from 'vitest';
import { byHand } from '../support/by-hand.js';
import { letInAgain, shutOut } from '../support/database-access.js';
import { noted, type OutboxApp, startOutboxApp, step } from '../support/outbox-app.js';

const MINUTE_MS = 60_000;

@Controller('health')
class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly outbox: OutboxHealthIndicator,
  ) {}

  @Get()
  @HealthCheck()
  check(): Promise<HealthCheckResult> {
    return this.health.check([() => this.outbox.isHealthy('outbox')]);
  }
}

@Module({ imports: [TerminusModule], controllers: [HealthController], providers: [OutboxHealthIndicator] })
class HealthModule {}

type Respond = NonNullable<MemoryTransportOptions['respond']>;

describe('the health of an outbox', () => {
  let app: OutboxApp;
  let respond: Respond;
  const start = async (first: Respond = () => ({ kind: 'delivered' })): Promise<void> => {
    respond = first;
    const memory = new MemoryTransport({ respond: (...given) => respond(...given) });
    app = await startOutboxApp({
      memory,
      imports: [HealthModule],
      outbox: { destinations: { memory: { transport: memory, pauseBaseMs: 1, pauseCapMs: 1 } } },
    });
  };
  afterEach(() => app.close());

  const emit = (...events: object[]): Promise<string[]> => app.outbox.transaction(() => app.outbox.emit(events));
  /** As if everything had happened so long ago. */
  const letTimePass = async (ms: number): Promise<void> => {
    const ago = `interval '${ms} milliseconds'`;
    await app.database.query(
      `update outbox_delivery set created_at = created_at - ${ago}, available_at = available_at - ${ago}`,
    );
    await app.database.query(`update outbox_destination set progressed_at = progressed_at - ${ago}`);
  };
  const health = async () => {
    const { status, destinations } = await app.module.get(OutboxHealthService).check();
    expect(destinations).toHaveLength(1);
    return { status, reasons: destinations[0]?.reasons ?? [] };
  };

  it('is up where there is nothing to do, however long nothing was delivered', async () => {
    await start();
    expect(await health()).toEqual({ status: 'up', reasons: [] });
    await emit(noted(randomUUID()));
    await app.dispatcher.drain();
    await letTimePass(60 * MINUTE_MS);
    expect(await health()).toEqual({ status: 'up', reasons: [] });
  });

  it.each([
    ['unordered', noted],
    ['ordered', (id: string) => step(id, 1)],
  ])(
    'is down where %s work waits and nothing is delivered, although the process lives, and up again after',
    async (_kind, event) => {
      await start();
      await emit(event(randomUUID()));
      expect(await health()).toEqual({ status: 'up', reasons: [] });
      await letTimePass(2 * MINUTE_MS);
      expect(await health()).toEqual({
        status: 'down',
        reasons: [
          expect.stringMatching(/^nothing delivered for 2 min although there is work: does a dispatcher run\?$/),
        ],
      });
      await app.dispatcher.drain();
      expect(await health()).toEqual({ status: 'up', reasons: [] });
    },
  );

  it('is down while a destination cannot be reached for long, says why, and is up when it can', async () => {
    await start(() => ({ kind: 'unreachable', error: 'connection refused' }));
    await emit(noted(randomUUID()));
    await app.dispatcher.drain();
    expect(await health()).toEqual({ status: 'degraded', reasons: ['cannot be reached: connection refused'] });
    await letTimePass(2 * MINUTE_MS);
    expect(await health()).toEqual({ status: 'down', reasons: ['cannot be reached: connection refused'] });
    respond = () => ({ kind: 'delivered' });
    await expect
      .poll(async () => (await app.dispatcher.drain()).delivered + (await health()).reasons.length, { timeout: 15_000 })
      .toBe(0);
    expect(await health()).toEqual({ status: 'up', reasons: [] });
  });

  it('is no more than degraded while a large backlog moves', async () => {
    await start();
    await emit(noted(randomUUID()), noted(randomUUID()));
    await letTimePass(10 * MINUTE_MS);
    await app.database.query('update outbox_destination set progressed_at = clock_timestamp()');
    await app.database.query(
      `insert into outbox_destination (destination, progressed_at) values ('memory', clock_timestamp()) on conflict do nothing`,
    );
    expect(await health()).toEqual({ status: 'degraded', reasons: ['the oldest event waits for 10 min'] });
  });

  it('is degraded by dead letters, and not down by what waits behind one', async () => {
    await start(() => ({ kind: 'dead', error: 'no' }));
    const order = randomUUID();
    await emit(step(order, 1), step(order, 2));
    await app.dispatcher.drain();
    await letTimePass(2 * MINUTE_MS);
    expect(await health()).toEqual({ status: 'degraded', reasons: ['1 dead letter'] });
    await app.module.get(DeadLetterService).discard({ destination: 'memory' }, byHand);
    respond = () => ({ kind: 'delivered' });
    await app.dispatcher.drain();
    expect(await health()).toEqual({ status: 'up', reasons: [] });
  });

  it('is degraded, and not down, where somebody has paused the destination', async () => {
    await start();
    await app.module.get(DestinationService).pause('memory', byHand);
    await emit(noted(randomUUID()));
    await letTimePass(2 * MINUTE_MS);
    expect(await health()).toEqual({ status: 'degraded', reasons: ['paused by hand'] });
  });

  it('stands on the health endpoint of the application, with the reasons', async () => {
    await start();
    const controller = app.module.get(HealthController);
    await expect(controller.check()).resolves.toMatchObject({ status: 'ok', details: { outbox: { status: 'up' } } });
    await app.module.get(DestinationService).pause('memory', byHand);
    await expect(controller.check()).resolves.toMatchObject({
      status: 'degraded',
      details: { outbox: { status: 'degraded', memory: 'paused by hand' } },
    });
    await app.module.get(DestinationService).resume('memory', byHand);
    await emit(noted(randomUUID()));
    await letTimePass(2 * MINUTE_MS);
    await expect(controller.check()).rejects.toMatchObject({
      response: {
        status: 'error',
        error: { outbox: { status: 'down', memory: expect.stringContaining('nothing delivered') } },
      },
    });
  });

  it('is down when the database cannot be asked', async () => {
    await start();
    await shutOut(app.database);
    try {
      await expect(app.module.get(HealthController).check()).rejects.toMatchObject({
        response: { error: { outbox: { status: 'down' } } },
      });
    } finally {
      await letInAgain(app.database);
    }
  });

  it('refuses thresholds that make no sense', async () => {
    await start();
    await expect(app.module.get(OutboxHealthService).check({ stalledAfterMs: 1 })).rejects.toThrow(
      'stalledAfterMs is 1',
    );
  });
});
