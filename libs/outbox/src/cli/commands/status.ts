import { durationInWords } from '../../ops/index.js';
import type { DestinationBacklog, DestinationState } from '../../store/index.js';
import type { Answer } from '../answer.js';
import { durationMs } from '../arguments.js';
import { addCommand, type Call, type Shelf } from '../command.js';
import { table } from '../print/table.js';
import { when } from '../print/when.js';

interface StatusOptions {
  readonly maxAge: number;
}

interface DestinationStatus extends Omit<DestinationBacklog, 'attempts'> {
  /** `ok`, or what is wrong, or `paused`. */
  readonly state: readonly string[];
  readonly delivered: number;
  readonly progressedAt: Date | undefined;
  readonly pause: DestinationState['pause'];
  readonly error: string | undefined;
}

export function addStatus(shelf: Shelf): void {
  addCommand(shelf, shelf.program, 'status', 'what waits, how old it is, and what is wrong', status).option(
    '--max-age <duration>',
    'an undelivered event that is older is wrong',
    durationMs,
    300_000,
  );
}

async function status({ session, options }: Call<StatusOptions>): Promise<Answer> {
  const { backlog, destinations } = await session.outbox();
  const rows = merge(await backlog.read(), await destinations.list(), [
    ...(session.outboxOptions?.destinations.keys() ?? []),
  ]).map((row) => ({ ...row, state: stateOf(row, options.maxAge) }));
  const isWrong = rows.some(({ state }) => state.some((word) => word !== 'ok' && word !== 'paused'));
  return { data: { isWrong, destinations: rows }, text: inWords(rows), isWrong };
}

type Facts = Omit<DestinationStatus, 'state'> & { readonly failures: number };

function merge(
  backlog: readonly DestinationBacklog[],
  states: readonly DestinationState[],
  configured: readonly string[],
): Facts[] {
  const names = new Set([...configured, ...states.map((s) => s.destination), ...backlog.map((b) => b.destination)]);
  return [...names].sort().map((destination) => {
    const queue = backlog.find((entry) => entry.destination === destination);
    const state = states.find((entry) => entry.destination === destination);
    return {
      destination,
      pending: queue?.pending ?? 0,
      processing: queue?.processing ?? 0,
      expiredLeases: queue?.expiredLeases ?? 0,
      dead: queue?.dead ?? 0,
      oldestUndeliveredMs: queue?.oldestUndeliveredMs,
      failures: state?.failures ?? 0,
      error: state?.error,
      delivered: state?.delivered ?? 0,
      progressedAt: state?.progressedAt,
      pause: state?.pause,
    };
  });
}

function stateOf({ pause, failures, dead, expiredLeases, oldestUndeliveredMs = 0 }: Facts, maxAgeMs: number): string[] {
  const isPaused = pause !== undefined;
  const words = [
    isPaused && 'paused',
    !isPaused && failures > 0 && 'unreachable',
    dead > 0 && 'dead letters',
    expiredLeases > 0 && 'leases ended',
    !isPaused && oldestUndeliveredMs > maxAgeMs && 'late',
  ].filter((word) => word !== false);
  return words.length === 0 ? ['ok'] : words;
}

function inWords(rows: readonly DestinationStatus[]): string {
  if (rows.length === 0) return 'No destination yet: no dispatcher has run, and nothing waits.';
  const shown = table(rows, [
    ['destination', ({ destination }) => destination],
    ['state', ({ state }) => state.join(', ')],
    [
      'oldest',
      ({ oldestUndeliveredMs }) => (oldestUndeliveredMs === undefined ? '-' : durationInWords(oldestUndeliveredMs)),
    ],
    ['pending', ({ pending }) => pending],
    ['in flight', ({ processing }) => processing],
    ['leases ended', ({ expiredLeases }) => expiredLeases],
    ['dead', ({ dead }) => dead],
    ['delivered', ({ delivered }) => delivered],
    ['last delivery', ({ progressedAt }) => when(progressedAt) ?? '-'],
  ]);
  const remarks = rows.flatMap(({ destination, pause, error, state }) => [
    ...(pause ? [`${destination} is paused since ${when(pause.at)} by ${pause.by}: ${pause.reason}`] : []),
    ...(error && state.includes('unreachable') ? [`${destination} cannot be reached: ${error}`] : []),
  ]);
  return remarks.length === 0 ? shown : `${shown}\n\n${remarks.join('\n')}`;
}
