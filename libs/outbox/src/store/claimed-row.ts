import { describeError } from '../errors/index.js';
import type { EventEnvelope, EventHeaders } from '../event/index.js';
import type { ClaimedDelivery, ReapedDelivery } from './delivery-store.js';
import type { TextRow } from './sql-client.js';

/** What the claim says once, beside the deliveries; JSON in the last column of one of its rows. */
export interface ClaimFacts {
  readonly token: string;
  readonly lane: number | null;
  readonly contended: boolean;
  /** Null for a destination that was never prepared, as are the next three. */
  readonly probe: boolean | null;
  readonly open: boolean | null;
  /** Somebody has paused it by hand. */
  readonly isPaused: boolean | null;
  readonly resumeMs: number | null;
  /** When the last unordered delivery taken became available, in µs since 1970; null unless some had to be left. */
  readonly lastUs: number | null;
  /** Only when nothing was taken: time until something that waits is due; null when nothing waits. */
  readonly nextDueMs: number | null;
}

/** Columns of the claim statement, in its order. */
export const CLAIM_COLUMNS = {
  id: 0,
  eventId: 1,
  status: 2,
  orderingKey: 3,
  attempts: 4,
  redrives: 5,
  ageMs: 6,
  loggedId: 7,
  type: 8,
  aggregatetype: 9,
  aggregateid: 10,
  payload: 11,
  headers: 12,
  version: 13,
  sequence: 14,
  createdMs: 15,
  facts: 16,
} as const;

const NO_HEADERS = '{}';
/** Seconds in double precision are off by less than this; a time is cut to milliseconds, as by node-postgres. */
const ROUNDING_MS = 0.0005;
const REAPED = '1';

export function isDelivery(row: TextRow): boolean {
  return row[CLAIM_COLUMNS.id] !== null;
}

export function isReaped(row: TextRow): boolean {
  return row[CLAIM_COLUMNS.status] === REAPED;
}

export function toReapedDelivery(row: TextRow): ReapedDelivery {
  return {
    id: text(row, 'id'),
    eventId: text(row, 'eventId'),
    attempts: Number(text(row, 'attempts')),
    orderingKey: row[CLAIM_COLUMNS.orderingKey] ?? undefined,
    type: row[CLAIM_COLUMNS.type] ?? undefined,
  };
}

/** A row that cannot be read is handed on with its problem, so that it is parked alone and its batch goes on. */
export function toClaimedDelivery(row: TextRow): ClaimedDelivery {
  const { envelope, problem } = readEnvelope(row);
  return {
    id: text(row, 'id'),
    attempts: Number(text(row, 'attempts')),
    redrives: Number(text(row, 'redrives')),
    orderingKey: row[CLAIM_COLUMNS.orderingKey] ?? undefined,
    ageMs: Math.round(Number(text(row, 'ageMs'))),
    envelope,
    problem,
  };
}

function readEnvelope(row: TextRow): Pick<ClaimedDelivery, 'envelope' | 'problem'> {
  if (row[CLAIM_COLUMNS.loggedId] === null) {
    return { envelope: undefined, problem: `event ${text(row, 'eventId')} is not in the event log any more` };
  }
  try {
    return { envelope: toEnvelope(row), problem: undefined };
  } catch (error) {
    return { envelope: undefined, problem: `event ${text(row, 'eventId')} cannot be read: ${describeError(error)}` };
  }
}

function toEnvelope(row: TextRow): EventEnvelope {
  const payload = row[CLAIM_COLUMNS.payload];
  const headers = text(row, 'headers');
  const sequence = row[CLAIM_COLUMNS.sequence];
  return {
    id: text(row, 'eventId'),
    type: row[CLAIM_COLUMNS.type] ?? '',
    aggregateType: text(row, 'aggregatetype'),
    aggregateId: text(row, 'aggregateid'),
    payload: payload == null ? null : JSON.parse(payload),
    headers: headers === NO_HEADERS ? {} : (JSON.parse(headers) as EventHeaders),
    version: Number(text(row, 'version')),
    sequence: sequence == null ? undefined : BigInt(sequence),
    createdAt: new Date(Math.floor(Number(text(row, 'createdMs')) + ROUNDING_MS)),
  };
}

/** @throws TypeError for null, which no such column of a readable row is. */
function text(row: TextRow, column: keyof typeof CLAIM_COLUMNS): string {
  const value = row[CLAIM_COLUMNS[column]];
  if (value == null) throw new TypeError(`${column} is null`);
  return value;
}
