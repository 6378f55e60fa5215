import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startChild } from '../support/child-process.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

const program = (app: string): URL => new URL(`../../apps/${app}/dist/main.js`, import.meta.url);

const KEY = Buffer.from('0123456789abcdef0123456789abcdef');
const SECRET = `whsec_${KEY.toString('base64')}`;
const json = { 'content-type': 'application/json' };
const tea = { sku: 'TEA-1', quantity: 2, amountCents: 900 };

describe('orders and shipping, as processes of their own', () => {
  let ordersDatabase: TestDatabase;
  let shippingDatabase: TestDatabase;
  let ordersUrl: string;
  let shippingUrl: string;
  let env: Record<string, string>;

  beforeAll(async () => {
    [ordersDatabase, shippingDatabase] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    const common = { WEBHOOK_SECRET: SECRET, MIGRATIONS: 'run', PORT: '0' };
    const shipping = startChild(program('shipping'), { env: { ...common, DATABASE_URL: shippingDatabase.url } });
    shippingUrl = urlIn(await shipping.waitForLine(/^shipping listens on/, 30_000));
    env = {
      ...common,
      DATABASE_URL: ordersDatabase.url,
      SHIPPING_URL: `${shippingUrl}/events/shipping`,
      INVENTORY_URL: `${shippingUrl}/events/inventory`,
    };
    const api = startChild(program('orders'), { env: { ...env, ROLE: 'api' } });
    ordersUrl = urlIn(await api.waitForLine(/^orders \(api\) listens on/, 30_000));
  });
  afterAll(() => Promise.all([ordersDatabase.drop(), shippingDatabase.drop()]));

  const post = (url: string, body?: unknown, headers: Record<string, string> = json): Promise<Response> =>
    fetch(url, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) });
  const place = async (): Promise<string> => {
    const response = await post(`${ordersUrl}/orders`, tea);
    expect(response.status).toBe(201);
    return String(((await response.json()) as { id: string }).id);
  };
  const effects = async (orderId: string): Promise<object> => ({
    shipments: await shippingDatabase.query('select status from shipments where order_id = $1', [orderId]),
    reservations: await shippingDatabase.query('select status from reservations where order_id = $1', [orderId]),
  });
  const eventCount = async (): Promise<unknown> =>
    (await ordersDatabase.query<{ count: string }>('select count(*) from outbox_event'))[0]?.count;
  /** Other events may still be on their way, so only those of one order are looked at. */
  const tracesOf = async (orderId: string, body: string): Promise<unknown> => ({
    ...(await effects(orderId)),
    records: await shippingDatabase.query('select from processed_events where event_id = $1', [idOf(body)]),
  });
  const none = { shipments: [], reservations: [], records: [] };
  const receiptsOf = (orderId: string): Promise<unknown[]> =>
    shippingDatabase.query('select id from receipts where aggregate_id = $1', [orderId]);

  it('an order that is placed while no dispatcher runs is bad for the health, and is shipped and reserved once when one starts', async () => {
    const orderId = await place();
    expect(await effects(orderId)).toEqual({ shipments: [], reservations: [] });
    await ordersDatabase.query(`update outbox_delivery set available_at = now() - interval '5 minutes'`);
    expect((await fetch(`${ordersUrl}/health`)).status).toBe(503);
    const dispatcher = startChild(program('orders'), { env: { ...env, ROLE: 'dispatcher' } });
    await dispatcher.waitForLine(/^orders \(dispatcher\) runs$/);
    await eventually(async () =>
      expect(await effects(orderId)).toEqual({
        shipments: [{ status: 'waiting' }],
        reservations: [{ status: 'held' }],
      }),
    );
    await eventually(async () => expect((await fetch(`${ordersUrl}/health`)).status).toBe(200));
  });

  it('what happens to an order later arrives in order, at each destination that it concerns', async () => {
    const orderId = await place();
    expect((await post(`${ordersUrl}/orders/${orderId}/pay`)).status).toBe(200);
    expect((await post(`${ordersUrl}/orders/${orderId}/cancel`, { reason: 'too late' })).status).toBe(200);
    await eventually(async () =>
      expect(await effects(orderId)).toEqual({
        shipments: [{ status: 'cancelled' }],
        reservations: [{ status: 'given_back' }],
      }),
    );
    expect(
      await shippingDatabase.query(
        'select consumer, type, sequence from receipts where aggregate_id = $1 order by consumer desc, id',
        [orderId],
      ),
    ).toEqual([
      { consumer: 'shipping', type: 'order.placed', sequence: '1' },
      { consumer: 'shipping', type: 'order.paid', sequence: '2' },
      { consumer: 'shipping', type: 'order.cancelled', sequence: '3' },
      { consumer: 'inventory', type: 'order.placed', sequence: '1' },
      { consumer: 'inventory', type: 'order.cancelled', sequence: '3' },
    ]);
  });

  it('a request that makes no sense is refused with a reason and states no event', async () => {
    const paid = await place();
    await post(`${ordersUrl}/orders/${paid}/pay`);
    const events = await eventCount();
    const statuses: Record<string, number> = {};
    const refused = async (what: string, path: string, body?: unknown): Promise<void> => {
      const response = await post(`${ordersUrl}${path}`, body);
      statuses[what] = response.status;
      expect(await response.json(), what).toMatchObject({ message: expect.anything() });
    };
    await refused('no quantity', '/orders', { ...tea, quantity: undefined });
    await refused('quantity 0', '/orders', { ...tea, quantity: 0 });
    await refused('unknown property', '/orders', { ...tea, discount: 1 });
    await refused('sku in lower case', '/orders', { ...tea, sku: 'tea' });
    await refused('no JSON', '/orders', '{');
    await refused('no UUID', '/orders/7/pay');
    await refused('NUL in the reason', `/orders/${paid}/cancel`, { reason: 'a\u0000b' });
    await refused('unknown order', `/orders/${randomUUID()}/pay`);
    await refused('paid twice', `/orders/${paid}/pay`);
    expect(statuses).toEqual({
      'no quantity': 400,
      'quantity 0': 400,
      'unknown property': 400,
      'sku in lower case': 400,
      'no JSON': 400,
      'no UUID': 400,
      'NUL in the reason': 400,
      'unknown order': 404,
      'paid twice': 409,
    });
    expect(await eventCount()).toBe(events);
  });

  it('lists orders, newest first, and shows one', async () => {
    const orderId = await place();
    const list = (await (await fetch(`${ordersUrl}/orders?status=placed&limit=1`)).json()) as object[];
    expect(list).toEqual([expect.objectContaining({ id: orderId, ...tea, status: 'placed' })]);
    expect(await (await fetch(`${ordersUrl}/orders/${orderId}`)).json()).toMatchObject(list[0] ?? {});
    expect((await fetch(`${ordersUrl}/orders/${randomUUID()}`)).status).toBe(404);
    expect((await fetch(`${ordersUrl}/orders?limit=1000`)).status).toBe(400);
  });

  it('a delivery that is repeated is answered 200 and counted, and has no second effect', async () => {
    const orderId = randomUUID();
    const body = cloudEvent('order.placed', orderId, { orderId, ...tea });
    for (const outcome of [null, 'duplicate']) {
      const response = await post(`${shippingUrl}/events/shipping`, body, signed(body, KEY));
      expect([response.status, response.headers.get('inbox-outcome')]).toEqual([200, outcome]);
    }
    expect(await effects(orderId)).toEqual({ shipments: [{ status: 'waiting' }], reservations: [] });
    expect(await receiptsOf(orderId)).toHaveLength(2);
  });

  it('what is not signed, or with another key, is refused with 401 and leaves nothing behind', async () => {
    const orderId = randomUUID();
    const body = cloudEvent('order.placed', orderId, { orderId, ...tea });
    const unsigned = { 'content-type': 'application/cloudevents+json' };
    expect((await post(`${shippingUrl}/events/shipping`, body, unsigned)).status).toBe(401);
    expect((await post(`${shippingUrl}/events/shipping`, body, signed(body, Buffer.alloc(32)))).status).toBe(401);
    expect((await post(`${shippingUrl}/events/inventory`, `${body} `, signed(body, KEY))).status).toBe(401);
    expect(await tracesOf(orderId, body)).toEqual(none);
    expect(await receiptsOf(orderId)).toEqual([]);
  });

  it('a signed message that is no event for this consumer is refused with 400 or 422 and has no effect', async () => {
    const orderId = randomUUID();
    const send = async (body: string): Promise<number> =>
      (await post(`${shippingUrl}/events/inventory`, body, signed(body, KEY))).status;
    const unknownType = cloudEvent('order.paid', orderId, { orderId, amountCents: 1 });
    const invalid = cloudEvent('order.placed', orderId, { orderId, ...tea, quantity: 0 });
    expect(await send('[]')).toBe(400);
    expect(await send(unknownType)).toBe(422);
    expect(await send(invalid)).toBe(422);
    expect(await tracesOf(orderId, unknownType)).toEqual(none);
    expect(await tracesOf(orderId, invalid)).toEqual(none);
  });
});

function urlIn(line: string): string {
  return line.split(' ').at(-1) ?? '';
}

function cloudEvent(type: string, subject: string, data: object): string {
  return JSON.stringify({
    specversion: '1.0',
    id: randomUUID(),
    source: '/test',
    type,
    subject,
    partitionkey: subject,
    datacontenttype: 'application/json',
    data,
  });
}

function idOf(body: string): string {
  return String((JSON.parse(body) as { id?: string }).id ?? 'none');
}

/** As the specification of Standard Webhooks says, without the library that both sides use. */
function signed(body: string, key: Buffer): Record<string, string> {
  const id = idOf(body);
  const timestamp = Math.floor(Date.now() / 1000).toString();
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'content-type': 'application/cloudevents+json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
}
