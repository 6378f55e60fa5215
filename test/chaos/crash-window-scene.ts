import { randomUUID } from 'node:crypto';
import { HttpTransport } from 'nestjs-transactional-outbox/http';
import { expect } from 'vitest';
import { startShipping } from '../processes/crash-shipping.js';
import { receivedIds } from '../support/dispatcher-process.js';
import { DESTINATION, type OutboxQueue, type QueuedDelivery, startOutboxQueue } from '../support/outbox-queue.js';
import { type RecordedRequest, type RecordingServer, startRecordingServer } from '../support/recording-server.js';
import { standBy } from './crash-window-bystanders.js';
import { prepareStalls } from './crash-window-stall.js';

const DAY_MS = 86_400_000;

/** Orders, outbox and shipping in one database. Dispatchers send to `receiver`, which hands on to shipping. */
export interface CrashScene {
  readonly queue: OutboxQueue;
  readonly receiver: RecordingServer;
  /** Hands a request on and answers what shipping does; `reset` when shipping is gone before its answer. */
  handOn(request: RecordedRequest): Promise<HandedOn>;
  /** From now on shipping is there; without a URL, at the one that lives. */
  shipAt(url?: string): void;
  /** Places orders one after the other. @returns the ids of their events. */
  place(count: number): Promise<string[]>;
  /** Which of these events dispatchers have sent, each as often as it was sent. */
  sent(ids: readonly string[]): string[];
  /** The deliveries of these events that are not done. */
  undone(ids: readonly string[]): Promise<QueuedDelivery[]>;
  /** The events among these for which something was shipped, each as often as it was. */
  shipped(ids: readonly string[]): Promise<string[]>;
  /** A dispatcher of this process delivers what is due. */
  deliver(): Promise<void>;
  /** As if every lease had ended and every wait were over. */
  passTime(): Promise<void>;
  /** Nothing has changed that had nothing to do with it. */
  expectNothingElseChanged(): Promise<void>;
  close(): Promise<void>;
}

export type HandedOn = { readonly status: number; readonly headers: Readonly<Record<string, string>> } | 'reset';

export async function startCrashScene(): Promise<CrashScene> {
  const receiver = await startRecordingServer();
  const transport = new HttpTransport({ url: receiver.url });
  // Long waits: nothing is tried again before passTime().
  const patient = { transport, concurrency: 1, retryBaseMs: DAY_MS, retryCapMs: DAY_MS };
  const queue = await startOutboxQueue({ outbox: { destinations: { [DESTINATION]: patient } } });
  const { database } = queue;
  const shipping = await startShipping({ database: database.url, applicationName: 'shipping', makeTables: true });
  const living = await shipping.getUrl();
  let shippingUrl = living;
  await prepareStalls(database);
  const bystanders = await standBy(queue);

  const handOn = async ({ headers, body }: RecordedRequest): Promise<HandedOn> => {
    const sent = { 'content-type': String(headers['content-type']), 'webhook-id': String(headers['webhook-id']) };
    try {
      const answer = await fetch(shippingUrl, { method: 'POST', headers: sent, body: new Uint8Array(body) });
      await answer.arrayBuffer();
      const outcome = answer.headers.get('inbox-outcome');
      return { status: answer.status, headers: outcome === null ? {} : { 'inbox-outcome': outcome } };
    } catch {
      return 'reset'; // what the sender would have seen without us in between
    }
  };
  receiver.answerWith(handOn);

  return {
    queue,
    receiver,
    handOn,
    shipAt(url = living) {
      shippingUrl = url;
    },
    async place(count) {
      const ids = Array.from({ length: count }, () => randomUUID());
      for (const id of ids) await queue.service.place({ id, amountCents: 100 });
      const rows = await database.query<{ id: string }>(
        'select id from outbox_event where aggregateid = any ($1) order by created_at',
        [ids],
      );
      expect(rows).toHaveLength(count);
      return rows.map(({ id }) => id);
    },
    sent: (ids) => receivedIds(receiver).filter((id) => ids.includes(id)),
    undone: async (ids) => (await queue.deliveries()).filter(({ eventId }) => ids.includes(eventId)),
    async shipped(ids) {
      const rows = await database.query<{ eventId: string }>(
        'select "eventId" from shipments where "eventId" = any ($1) order by id',
        [ids],
      );
      return rows.map(({ eventId }) => eventId);
    },
    async deliver() {
      await queue.dispatcher.drain();
    },
    async passTime() {
      await queue.expireLeases();
      await queue.makeDue();
    },
    expectNothingElseChanged: () => bystanders.expectUnchanged(),
    async close() {
      await shipping.close();
      await queue.close();
      await receiver.close();
    },
  };
}
