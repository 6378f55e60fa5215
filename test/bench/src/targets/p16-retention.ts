import { type MaintainedPartitions, PartitionService, RetentionService } from 'nestjs-transactional-outbox';
import type { BenchDatabase } from '../measure/bench-server.js';
import { compare } from '../measure/comparison.js';
import { interleave, type Side } from '../measure/interleave.js';
import { atPace, monotonicNowMs } from '../measure/latencies.js';
import { median, percentile } from '../measure/statistics.js';
import { FILLER } from '../sides/bench-events.js';
import { BenchOrderEntity } from '../sides/business.js';
import { CountingTransport } from '../sides/counting-transport.js';
import { EmittingService } from '../sides/emitting-service.js';
import { DESTINATION, type Library, startLibrary } from '../sides/library.js';
import type { Bench, Target, TargetResult } from './target.js';

const DAY_MS = 86_400_000;
const RETENTION_MS = 7 * DAY_MS;
const OLD_DAYS = 30;
const EMITS_PER_SECOND = 100;
const EMITS = 600;

interface Cleaned {
  readonly ms: number;
  readonly walBytes: number;
  readonly bytesAfter: number;
  readonly freeBytes: number;
}

/** What to remove, and how; each on a database of its own. */
interface CleanUp {
  readonly name: string;
  readonly database: BenchDatabase;
  readonly library: Library;
  /** Lays the events of an old day, delivered everywhere. */
  lay(): Promise<void>;
  /** @returns how many events are gone. */
  remove(): Promise<number>;
  readonly cleaned: Cleaned[];
}

/** The same day's worth of delivered events, removed row by row and as a partition. */
export const retention: Target = {
  id: 'P16',
  title: 'removing an old day by dropping its partition, against deleting its rows in batches (for information)',
  run: ({ server, progress, repeats, size }: Bench): Promise<TargetResult> =>
    server.withDatabase((rows) =>
      server.withDatabase(async (days) => {
        const events = size(200_000, 5000);
        const deleting = await startDeleting(rows, events);
        const dropping = await startDropping(days, events);
        const sides = { ours: dropping, against: deleting };
        const time = await interleave(mapSides(sides, timed), { repeats, unit: 'ms', progress });
        const p99 = await interleave(mapSides(sides, withEmits), { repeats, unit: 'ms, p99 of emits', progress });
        const alone = await interleave({ alone: aloneSide(deleting) }, { repeats, unit: 'ms, p99 of emits', progress });
        for (const { library } of [deleting, dropping]) await library.close();
        const inMegabytes = (figure: keyof Cleaned): number[] =>
          [dropping, deleting].map(({ cleaned }) => median(cleaned.map((one) => one[figure])) / 1e6);
        return {
          comparisons: [
            compare('time to remove them', time.ours, time.against, undefined),
            compare('99th percentile of a business transaction meanwhile', p99.ours, p99.against, undefined),
          ],
          tables: [
            {
              title: `An old day with ${events.toLocaleString('en')} delivered events`,
              columns: ['', 'dropped as a partition', 'deleted in batches of 1,000'],
              rows: [
                ['time, ms', time.ours.median, time.against.median],
                ['WAL, MB', ...inMegabytes('walBytes')],
                ['log with indexes afterwards, MB', ...inMegabytes('bytesAfter')],
                ['of that free for new events, MB', ...inMegabytes('freeBytes')],
                [
                  `p99 of ${EMITS_PER_SECOND} business transactions a second meanwhile, ms`,
                  p99.ours.median,
                  p99.against.median,
                ],
                ['the same with no clean-up, ms', alone.alone.median, alone.alone.median],
              ],
            },
          ],
        };
      }),
    ),
};

function mapSides(
  sides: { ours: CleanUp; against: CleanUp },
  side: (cleanUp: CleanUp) => Side,
): { ours: Side; against: Side } {
  return { ours: side(sides.ours), against: side(sides.against) };
}

/** Alone, so that all that is written and left behind is its own. */
function timed(cleanUp: CleanUp): Side {
  return {
    name: cleanUp.name,
    prepare: () => cleanUp.lay(),
    async measure() {
      const before = await logPosition(cleanUp.database);
      const startedAt = monotonicNowMs();
      await cleanUp.remove();
      const ms = monotonicNowMs() - startedAt;
      const walBytes = (await logPosition(cleanUp.database)) - before;
      cleanUp.cleaned.push({ ms, walBytes, ...(await leftBehind(cleanUp.database)) });
      return ms;
    },
  };
}

/** As many business transactions for either side, whose clean-up begins when a sixth of them is done. */
function withEmits(cleanUp: CleanUp): Side {
  return {
    name: `${cleanUp.name}, with emits`,
    prepare: () => cleanUp.lay(),
    async measure() {
      let removed: Promise<number> | undefined;
      const p99 = await emitAtPace(cleanUp.library, (call) => {
        if (call === EMITS / 6) removed = cleanUp.remove();
      });
      await removed;
      return p99;
    },
  };
}

function aloneSide({ library }: CleanUp): Side {
  return { name: 'emits with no clean-up', measure: () => emitAtPace(library, () => undefined) };
}

async function emitAtPace({ app }: Library, onCall: (call: number) => void): Promise<number> {
  const service = app.get(EmittingService);
  const took: number[] = [];
  await atPace({ calls: EMITS, perSecond: EMITS_PER_SECOND }, async (call) => {
    onCall(call);
    const startedAt = monotonicNowMs();
    await service.placeWithEvent(call);
    took.push(monotonicNowMs() - startedAt);
  });
  return percentile(took, 0.99);
}

async function startDeleting(database: BenchDatabase, events: number): Promise<CleanUp> {
  const library = await startCleaning(database);
  await database.query('alter table outbox_event set (autovacuum_enabled = false)');
  return {
    name: 'delete in batches',
    database,
    library,
    lay: () => layOldDay(database, events),
    remove: async () => {
      const removed = await library.app.get(RetentionService).prune({ olderThanMs: RETENTION_MS });
      return expectAll(removed.events, events);
    },
    cleaned: [],
  };
}

async function startDropping(database: BenchDatabase, events: number): Promise<CleanUp> {
  const library = await startCleaning(database);
  const partitions = library.app.get(PartitionService);
  await partitions.partition();
  return {
    name: 'drop a partition',
    database,
    library,
    async lay() {
      const startMs = Math.floor(Date.now() / DAY_MS - OLD_DAYS) * DAY_MS;
      await database.query(
        `create table if not exists outbox_event_old partition of outbox_event for values from ('${idAt(startMs)}') to ('${idAt(startMs + DAY_MS)}')`,
      );
      await layOldDay(database, events);
    },
    async remove() {
      for (;;) {
        const report: MaintainedPartitions = await partitions.maintain({ deliveredForMs: RETENTION_MS });
        if (report.dropped.length === 1) return events;
        if (report.postponed.length === 0) throw new Error(`nothing was dropped: ${JSON.stringify(report)}`);
      }
    },
    cleaned: [],
  };
}

function startCleaning(database: BenchDatabase): Promise<Library> {
  return startLibrary(database, {
    destination: { transport: new CountingTransport() },
    dispatcher: { schedule: false, wakeUp: false },
    entities: [BenchOrderEntity],
    providers: [EmittingService],
  });
}

/** Events of one old day, in the order in which they were written; what was there before is gone. */
async function layOldDay(database: BenchDatabase, events: number): Promise<void> {
  await database.query('truncate bench_order, outbox_event, outbox_delivery');
  const startMs = Math.floor(Date.now() / DAY_MS - OLD_DAYS) * DAY_MS;
  await database.query(
    `insert into outbox_event (id, aggregatetype, aggregateid, type, payload, destinations, created_at)
     select (lpad(to_hex($2::bigint + n * 80000000::bigint / $1::int), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid,
       'bench', n::text, 'bench.noted', jsonb_build_object('benchId', n, 'number', n, 'filler', $3::text), array[$4::text],
       to_timestamp($2::bigint / 1000.0) + n * interval '80000 seconds' / $1::int
     from generate_series(1, $1::int) n`,
    [events, startMs, FILLER, DESTINATION],
  );
  await database.query('vacuum analyze outbox_event');
  await database.query('checkpoint');
}

function expectAll(removed: number, events: number): number {
  if (removed !== events) throw new Error(`${removed} of ${events} events were removed, so the measurement is void`);
  return removed;
}

const idAt = (ms: number): string =>
  `${ms
    .toString(16)
    .padStart(12, '0')
    .replace(/^(.{8})/, '$1-')}-0000-0000-000000000000`;

async function logPosition(database: BenchDatabase): Promise<number> {
  const [row] = await database.query<{ bytes: number }>(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes`,
  );
  return row?.bytes ?? Number.NaN;
}

/** What is free in the files of the log will be used for new events, but is not given back. */
async function leftBehind(database: BenchDatabase): Promise<Pick<Cleaned, 'bytesAfter' | 'freeBytes'>> {
  await database.query('create extension if not exists pgstattuple');
  const [row] = await database.query<{ bytes: number; free: number }>(
    `select sum(pg_total_relation_size(relid))::float8 as bytes,
       sum((pgstattuple(relid)).free_space)::float8 as free
     from (select relid from pg_partition_tree('outbox_event') where isleaf
       union select oid from pg_class where oid = 'outbox_event'::regclass and relkind = 'r') as tables (relid)`,
  );
  return { bytesAfter: row?.bytes ?? Number.NaN, freeBytes: row?.free ?? Number.NaN };
}
