import type { MicroserviceOptions } from '@nestjs/microservices';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OutgoingEvent } from '../../libs/outbox/src/transports/index.js';
import { outgoingEvent } from '../integration/transport-events.js';
import { type InboxMicroservice, startInboxMicroservice } from './inbox-service.js';

/** A broker that brings events to a microservice of Nest. */
export interface BrokerUnderTest {
  /** Whether it delivers again what was not accepted. */
  readonly redelivers: boolean;
  /** Called once. */
  open(): Promise<MicroserviceOptions>;
  /** By the transport for this broker. */
  publish(event: OutgoingEvent): Promise<void>;
  /** Bytes that nobody has looked at. */
  publishRaw(body: Buffer): Promise<void>;
  /** Messages that were delivered and not accepted, or wait; undefined where the broker does not say. */
  unaccepted?(): Promise<number>;
  /** Resolves when the service gets what is published from now on. */
  ready?(): Promise<void>;
  close(): Promise<void>;
}

const PATIENT = { timeout: 15_000 };

/** The table of what becomes of a message, for one broker. */
export function describeInboxOver(name: string, broker: BrokerUnderTest, isSkipped: boolean): void {
  describe.skipIf(isSkipped)(`the inbox over ${name}`, () => {
    let service: InboxMicroservice;
    let effects: Record<'shipping' | 'inventory', number>;
    beforeAll(async () => {
      service = await startInboxMicroservice(await broker.open());
      await broker.ready?.();
    });
    afterAll(async () => {
      await service.close();
      await broker.close();
    });
    beforeEach(async () => {
      service.faults.left.clear();
      service.faults.calls.clear();
      await service.parked.discard({});
      effects = { shipping: await service.effects('shipping'), inventory: await service.effects('inventory') };
    });

    afterEach(() => expect(service.filtered, 'a filter for HTTP is told nothing').toEqual([]));

    const expectEffects = (more: { shipping: number; inventory: number }): Promise<void> =>
      expect
        .poll(
          async () => ({
            shipping: (await service.effects('shipping')) - effects.shipping,
            inventory: (await service.effects('inventory')) - effects.inventory,
          }),
          PATIENT,
        )
        .toEqual(more);
    const expectAllAccepted = async (): Promise<void> => {
      if (broker.unaccepted !== undefined) await expect.poll(() => broker.unaccepted?.(), PATIENT).toBe(0);
    };
    /** Connections that wait for a lock: of a handler whose event is being processed elsewhere. */
    const waiting = async (): Promise<number> => {
      const [row] = await service.database.query<{ count: number }>(
        `select count(*)::int as count from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return row?.count ?? 0;
    };
    const order = (payload = PAYLOAD): OutgoingEvent => outgoingEvent({ payload });

    it('an event is applied once by each of its consumers, and accepted', async () => {
      await broker.publish(order());
      await expectEffects({ shipping: 1, inventory: 1 });
      await expectAllAccepted();
    });

    it('a second copy is accepted and applied by nobody', async () => {
      const event = order();
      await broker.publish(event);
      await expectEffects({ shipping: 1, inventory: 1 });
      await broker.publish({ ...event, redrives: 1 });
      await broker.publish(order()); // behind it
      await expectEffects({ shipping: 2, inventory: 2 });
      await expectAllAccepted();
      expect(service.faults.calls).toEqual(
        new Map([
          ['shipping', 2],
          ['inventory', 2],
        ]),
      );
    });

    const itWhereRedelivered = broker.redelivers ? it : () => undefined;
    itWhereRedelivered(
      'an event whose handler fails comes again, and the other consumer keeps what it did',
      async () => {
        service.faults.left.set('shipping', 2);
        await broker.publish(order());
        await expectEffects({ shipping: 1, inventory: 1 });
        await expectAllAccepted();
        expect(service.faults.calls).toEqual(
          new Map([
            ['shipping', 3],
            ['inventory', 1],
          ]),
        );
        expect(await service.parked.list()).toEqual([]);
      },
    );

    itWhereRedelivered('an event that is being processed elsewhere comes again, and costs no failure', async () => {
      const event = order();
      const elsewhere = new pg.Client(service.database.url);
      await elsewhere.connect();
      try {
        await elsewhere.query('begin');
        await elsewhere.query(
          `insert into processed_events (consumer_name, event_id, event_type, content_digest)
           values ('shipping', $1, 'order.placed', sha256(''))`,
          [event.envelope.id],
        );
        await broker.publish(event);
        // It came, was sent away, and came again.
        for (const count of [1, 0, 1]) await expect.poll(waiting, { ...PATIENT, interval: 10 }).toBe(count);
        const failures = 'select 1 from processed_events_failed where message_id = $1';
        expect(await service.database.query(failures, [event.envelope.id])).toEqual([]);
      } finally {
        await elsewhere.end(); // which rolls back
      }
      await expectEffects({ shipping: 1, inventory: 1 });
      await expectAllAccepted();
    });

    itWhereRedelivered('an event whose failure cannot be written down is not lost: it comes again', async () => {
      await service.database.query('alter table processed_events_failed rename to away');
      try {
        service.faults.left.set('shipping', 1);
        await broker.publish(order());
        await expectEffects({ shipping: 1, inventory: 1 });
      } finally {
        await service.database.query('alter table away rename to processed_events_failed');
      }
      await expectAllAccepted();
    });

    it('an event that its handler cannot process is parked with its reason, and those behind it go on', async () => {
      service.faults.left.set('shipping', 1000);
      const event = order();
      await broker.publish(event);
      await expect.poll(() => service.parked.list(), PATIENT).toHaveLength(1);
      await expectAllAccepted();
      service.faults.left.clear();
      await broker.publish(order());
      await expectEffects({ shipping: 1, inventory: 2 });
      const [parked] = await service.parked.list({ consumer: 'shipping' });
      expect(parked).toMatchObject({
        messageId: event.envelope.id,
        eventType: 'order.placed',
        attempts: broker.redelivers ? 3 : 1,
        error: expect.stringContaining('the handler failed'),
        source: expect.stringContaining(name.split(' ')[0] ?? ''),
      });
    });

    it('a parked event can be redriven: it is applied once, and fails again as long as the reason lasts', async () => {
      service.faults.left.set('shipping', 1000);
      await broker.publish(order());
      await expect.poll(() => service.parked.list(), PATIENT).toHaveLength(1);
      const [parked] = await service.parked.list();
      expect(await service.parked.redrive()).toEqual({ processed: [], failed: [parked?.id] });
      expect(await service.parked.list()).toMatchObject([{ attempts: (parked?.attempts ?? 0) + 1 }]);
      service.faults.left.clear();
      expect(await service.parked.redrive({ ids: [parked?.id ?? ''] })).toEqual({
        processed: [parked?.id],
        failed: [],
      });
      await expectEffects({ shipping: 1, inventory: 1 });
      expect(await service.parked.list()).toEqual([]);
    });

    it('a message that is no event is parked at once, with its bytes, for each consumer', async () => {
      const body = Buffer.from('{"pattern":"order.placed","data":"no event"}');
      await broker.publishRaw(body);
      await expect.poll(() => service.parked.list(), PATIENT).toHaveLength(2);
      await expectAllAccepted();
      const [one] = await service.parked.list({ consumer: 'shipping' });
      expect(one).toMatchObject({
        messageId: expect.stringMatching(/^sha256:/),
        attempts: 1,
        error: expect.stringContaining('no event'),
      });
      expect(one?.body.toString()).toContain('no event');
      await broker.publishRaw(Buffer.from('{"pattern":"order.placed","data":"no event either"}'));
      await expect.poll(() => service.parked.list(), PATIENT).toHaveLength(4);
      await broker.publish(order());
      await expectEffects({ shipping: 1, inventory: 1 });
      expect(service.faults.calls.get('shipping')).toBe(1);
    });

    it('an event with the id of another one is parked, and not taken for it', async () => {
      const event = order();
      await broker.publish(event);
      await expectEffects({ shipping: 1, inventory: 1 });
      const other = order({ ...PAYLOAD, amountCents: 999 });
      await broker.publish({ ...other, redrives: 1, envelope: { ...other.envelope, id: event.envelope.id } });
      await expect.poll(() => service.parked.list(), PATIENT).toHaveLength(2);
      await expectAllAccepted();
      expect((await service.parked.list())[0]?.error).toContain('different content');
    });

    it('an event of a type that is not for its consumers is passed over', async () => {
      await broker.publish(outgoingEvent({ type: 'order.paid', payload: PAYLOAD }));
      await broker.publish(order());
      await expectEffects({ shipping: 1, inventory: 1 });
      await expectAllAccepted();
      expect(await service.parked.list()).toEqual([]);
    });

    it('an event whose fields are wrong is parked at once', async () => {
      await broker.publish(order({ ...PAYLOAD, amountCents: -1 }));
      await expect.poll(() => service.parked.list(), PATIENT).toHaveLength(2);
      await expectAllAccepted();
      expect((await service.parked.list())[0]?.error).toContain('is not valid');
    });
  });
}

const PAYLOAD = { orderId: '0198c0de-0000-7000-8000-000000000001', amountCents: 100 };
