import type { Narrator } from '../narrator.js';
import type { SampleSystem } from '../system/sample-system.js';

/** What to try while everything is up. */
export function invite(system: SampleSystem, narrator: Narrator): void {
  const { transport, ordersUrl, shippingUrl, ordersDatabase, shippingDatabase } = system;
  narrator.line('');
  narrator.title('Everything stays up until Ctrl-C. Try:');
  narrator.line('');
  for (const line of [
    `${ordersUrl}/outbox    # the dashboard, in a browser`,
    '',
    `curl ${ordersUrl}/orders`,
    `curl ${ordersUrl}/orders -H 'content-type: application/json' -d '{"sku":"TEA-GREEN","quantity":2,"amountCents":1250}'`,
    `curl -X POST ${ordersUrl}/orders/ORDER-ID/pay`,
    `curl ${ordersUrl}/orders/ORDER-ID/cancel -H 'content-type: application/json' -d '{"reason":"too late"}'`,
    '',
    `curl ${shippingUrl}/shipments`,
    `curl ${shippingUrl}/reservations`,
    `curl ${shippingUrl}/receipts`,
    ...(transport === 'http' ? [unsigned(shippingUrl)] : []),
    '',
    `psql '${ordersDatabase.shownUrl}' -c 'select * from outbox_event_status'`,
    `psql '${shippingDatabase.shownUrl}' -c 'select * from processed_events'`,
  ]) {
    narrator.line(line === '' ? '' : `   ${line}`);
  }
  narrator.line('');
}

function unsigned(shippingUrl: string): string {
  return `curl ${shippingUrl}/events/shipping -H 'content-type: application/cloudevents+json' -d '{}'    # 401: not signed`;
}
