import { randomUUID } from 'node:crypto';
import type { TransportName } from 'sample-support';
import type { Cleanup } from '../cleanup.js';
import { countDiscrepancies, type DualWriteFigures, type Fate, fateOf } from '../dual-write/discrepancies.js';
import { NaiveSide } from '../dual-write/naive-side.js';
import { OutboxSide } from '../dual-write/outbox-side.js';
import { DESCRIPTIONS, PATHS, type Path } from '../dual-write/paths.js';
import type { Narrator } from '../narrator.js';
import type { DatabaseServer } from '../system/database-server.js';
import type { SampleSystem } from '../system/sample-system.js';

export interface DualWriteStage {
  readonly server: DatabaseServer;
  readonly system: SampleSystem;
  readonly cleanup: Cleanup;
}

/** The five ways in which two writes one after the other can go, without and with an outbox. */
export async function tellDualWrite(stage: DualWriteStage, narrator: Narrator): Promise<DualWriteFigures> {
  const { server, system, cleanup } = stage;
  narrator.chapter('The dual write: an order on each of five paths, without an outbox and with it.');
  narrator.say(
    'Each order is placed by a process of its own; "crash" is its SIGKILL. Naive means: write to the database,',
  );
  narrator.say('then send to the receiver over HTTP, or the other way round.');
  const naive = await NaiveSide.create(server, cleanup);
  const naiveIds = newIds();
  await naive.placeOrders(naiveIds);
  narrator.say(`Now with the outbox, through the applications above. ${receiverDown(system.transport)}`);
  const outboxIds = newIds();
  await new OutboxSide(system).placeOrders(outboxIds);

  const rows = await Promise.all(
    PATHS.map(async (path) => [
      DESCRIPTIONS[path],
      ...describe(await fateOf(naiveIds[path], naive.orders, naive.shipping)),
      ...describe(await fateOf(outboxIds[path], system.ordersDatabase, system.shippingDatabase)),
    ]),
  );
  narrator.table(['path', 'naive: order', 'shipped', '', 'outbox: order', 'shipped', ''], rows);
  const figures = {
    naive: await countDiscrepancies(naive.orders, naive.shipping),
    outbox: await countDiscrepancies(system.ordersDatabase, system.shippingDatabase),
  };
  narrator.say(
    `naive:  ${figures.naive.ghosts} shipments without an order, ${figures.naive.missing} orders never shipped`,
  );
  narrator.say(
    `outbox: ${figures.outbox.ghosts} shipments without an order, ${figures.outbox.missing} orders never shipped`,
  );
  return figures;
}

function receiverDown(transport: TransportName): string {
  if (transport === 'http') return 'Shipping is stopped and started for "receiver down".';
  if (transport === 'in-process') return 'The dispatcher, where shipping runs, is stopped for "receiver down".';
  return 'Shipping is stopped for "receiver down"; the broker keeps its event.';
}

function newIds(): Record<Path, string> {
  return Object.fromEntries(PATHS.map((path) => [path, randomUUID()])) as Record<Path, string>; // one for each path
}

function describe({ order, shipments }: Fate): string[] {
  return [order > 0 ? 'yes' : '-', shipments > 0 ? 'yes' : '-', verdict({ order, shipments })];
}

function verdict({ order, shipments }: Fate): string {
  if (order > 0 && shipments === 0) return 'MISSING';
  if (order === 0 && shipments > 0) return 'GHOST';
  return order > 0 ? 'ok' : 'ok';
}
