import { describeError } from '../errors/index.js';
import type { EventEnvelope, EventHeaders } from '../event/index.js';
import type { ClaimedDelivery, ReapedDelivery } from './delivery-store.js';

/** A row as the claim statement answers it; 64-bit numbers and JSON come as text, whatever parsers pg was given. */
export interface ClaimedRow {
  readonly id: string;
  readonly event_id: string;
  readonly is_reaped: boolean;
  readonly ordering_key: string | null;
  readonly attempts: number;
  readonly age_ms: number;
  readonly token: string;
  readonly lane: number | null;
  readonly is_logged: boolean;
  readonly type: string | null;
  readonly aggregatetype: string;
  readonly aggregateid: string;
  readonly payload: string | null;
  readonly headers: string;
  readonly version: number;
  readonly sequence: string | null;
  readonly created_at: Date;
  readonly is_probe: boolean;
}

/** The only row of an answer without deliveries. */
export interface EmptyRow {
  readonly id: null;
  readonly is_contended: boolean;
  readonly is_probe: boolean;
  /** Null for a destination that was never prepared. */
  readonly is_open: boolean | null;
  readonly resume_ms: number | null;
}

export function toReapedDelivery(row: ClaimedRow): ReapedDelivery {
  return {
    id: row.id,
    eventId: row.event_id,
    attempts: row.attempts,
    orderingKey: row.ordering_key ?? undefined,
    type: row.type ?? undefined,
  };
}

/** A row that cannot be read is handed on with its problem, so that it is parked alone and its batch goes on. */
export function toClaimedDelivery(row: ClaimedRow): ClaimedDelivery {
  const state = {
    id: row.id,
    attempts: row.attempts,
    orderingKey: row.ordering_key ?? undefined,
    ageMs: row.age_ms,
  };
  if (!row.is_logged) {
    return { ...state, envelope: undefined, problem: `event ${row.event_id} is not in the event log any more` };
  }
  try {
    return { ...state, envelope: toEnvelope(row), problem: undefined };
  } catch (error) {
    return { ...state, envelope: undefined, problem: `event ${row.event_id} cannot be read: ${describeError(error)}` };
  }
}

function toEnvelope(row: ClaimedRow): EventEnvelope {
  return {
    id: row.event_id,
    type: row.type ?? '',
    aggregateType: row.aggregatetype,
    aggregateId: row.aggregateid,
    payload: row.payload === null ? null : JSON.parse(row.payload),
    headers: JSON.parse(row.headers) as EventHeaders,
    version: row.version,
    sequence: row.sequence === null ? undefined : BigInt(row.sequence),
    createdAt: new Date(row.created_at),
  };
}
