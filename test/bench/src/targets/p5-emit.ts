import type { EntityManager } from 'typeorm';
import { type Bound, type Comparison, compare, type Figure } from '../measure/comparison.js';
import { interleave, type Side } from '../measure/interleave.js';
import { runWriters } from '../measure/run-writers.js';
import { BenchOrderEntity, emptyTables, insertOrder, noted, stepped } from '../sides/business.js';
import { CountingTransport } from '../sides/counting-transport.js';
import { EmittingService } from '../sides/emitting-service.js';
import { type Library, startLibrary } from '../sides/library.js';
import { NaiveEventEntity, saveNaiveEvent } from '../sides/naive-outbox.js';
import type { Bench, Target, TargetResult } from './target.js';

type Variant = 'order' | 'one' | 'ten' | 'ordered' | 'decorated' | 'decoratedTwice' | 'naive';

interface Setting {
  readonly label: string;
  readonly writers: number;
  /** Whether a commit waits until its log is on the disk; `off` shows what the round trips cost. */
  readonly synchronousCommit: 'on' | 'off';
  readonly isBounded: boolean;
}

const SETTINGS: readonly Setting[] = [
  { label: '1 writer', writers: 1, synchronousCommit: 'on', isBounded: true },
  { label: '8 writers', writers: 8, synchronousCommit: 'on', isBounded: false },
  { label: '1 writer, synchronous_commit off', writers: 1, synchronousCommit: 'off', isBounded: false },
];

const BOUNDS: Readonly<Partial<Record<Variant, Bound>>> = {
  one: { atMost: 1.4 },
  ten: { atMost: 1.65 },
  ordered: { atMost: 1.5 },
};

const NAMES: Readonly<Record<Variant, string>> = {
  order: 'order only',
  one: 'one event',
  ten: 'ten events',
  ordered: 'one ordered event',
  decorated: '@EmitsEvent',
  decoratedTwice: '@EmitsEvent twice',
  naive: 'naive: save() of an event entity',
};

/** What stating a fact costs the business transaction: the same transaction with and without the event. */
export const emit: Target = {
  id: 'P5',
  title: 'an event adds little to the business transaction that states it',
  async run(bench: Bench): Promise<TargetResult> {
    const comparisons: Comparison[] = [];
    for (const setting of SETTINGS) comparisons.push(...(await measureSetting(bench, setting)));
    return {
      comparisons,
      plots: [
        {
          title: 'Time of a business transaction with its events, relative to the one without',
          kind: 'bars',
          xLabel: 'transaction',
          yLabel: 'time, order only = 1',
          series: SETTINGS.map(({ label }) => ({
            name: label,
            points: comparisons
              .filter(({ name }) => name.endsWith(`, ${label}`))
              .map(({ name, ratio }) => [name.slice(0, -label.length - 2), ratio] as const),
          })),
        },
      ],
    };
  },
};

async function measureSetting(bench: Bench, setting: Setting): Promise<Comparison[]> {
  const { server, progress, repeats } = bench;
  progress.step(setting.label);
  const figures = await server.withDatabase(async (database) => {
    await database.query(
      `do $$ begin execute format('alter database %I set synchronous_commit = ${setting.synchronousCommit}', current_database()); end $$`,
    );
    const library = await startLibrary(database, {
      destination: { transport: new CountingTransport() },
      dispatcher: { schedule: false, wakeUp: false },
      entities: [BenchOrderEntity, NaiveEventEntity],
      providers: [EmittingService],
      poolSize: setting.writers,
    });
    const calls = bench.size(1500, 50);
    const work = transactionsOf(library);
    const sideOf = (variant: Variant): Side => ({
      name: NAMES[variant],
      prepare: () => emptyTables(library.dataSource),
      measure: async () => 1000 * (await runWriters({ writers: setting.writers, calls }, work[variant])),
    });
    const variants = Object.keys(NAMES) as Variant[];
    const measured = await interleave(
      Object.fromEntries(variants.map((variant) => [variant, sideOf(variant)])) as Record<Variant, Side>,
      { repeats, unit: 'µs', progress },
    );
    await library.close();
    return measured;
  });
  return comparisonsOf(figures, setting);
}

function transactionsOf({ app, dataSource, outbox }: Library): Record<Variant, (call: number) => Promise<unknown>> {
  const service = app.get(EmittingService);
  const withEvents = (add: (manager: EntityManager, id: string, call: number) => Promise<unknown>) => (call: number) =>
    dataSource.transaction(async (manager) => {
      const id = await insertOrder(manager, call);
      await add(manager, id, call);
    });
  const ten = (id: string): object[] => Array.from({ length: 10 }, (_, number) => noted(id, number));
  return {
    order: (call) => service.place(call),
    one: withEvents((manager, id, call) => outbox.emit(manager, noted(id, call))),
    ten: withEvents((manager, id) => outbox.emit(manager, ten(id))),
    ordered: withEvents((manager, id, call) => outbox.emit(manager, stepped(id, call))),
    decorated: (call) => service.placeWithEvent(call),
    decoratedTwice: (call) => service.placeWithTwoEvents(call),
    naive: withEvents((manager, id, call) => saveNaiveEvent(manager, id, call)),
  };
}

function comparisonsOf(figures: Readonly<Record<Variant, Figure>>, { label, isBounded }: Setting): Comparison[] {
  const { order, ...others } = figures;
  return Object.entries(others).map(([variant, ours]) =>
    compare(`${NAMES[variant as Variant]}, ${label}`, ours, order, isBounded ? BOUNDS[variant as Variant] : undefined),
  );
}
