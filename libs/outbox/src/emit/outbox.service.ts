import type { EntityManager } from 'typeorm';
import type { ResolvedOptions } from '../config/index.js';
import { EventNotStoredError, InvalidEventError, NoActiveTransactionError, OutboxError } from '../errors/index.js';
import { type EventHeaders, findEventDefinition } from '../event/index.js';
import type { Signal } from '../runtime/index.js';
import type { EventStore } from '../store/index.js';
import { carriesTrace, type OutboxTelemetry } from '../telemetry/index.js';
import { type BoundTicket, dataSourceOf, type IsolationLevel, type TransactionContext } from '../transaction/index.js';
import type { EmitOptions } from './emit-options.js';
import { prepareEvent } from './prepare-event.js';
import type { SilentChangeDetector } from './silent-change-detector.js';

/** Conflicts that PostgreSQL asks to try again: serialization failure, deadlock, lock not available. */
const RETRYABLE_SQLSTATES = new Set(['40001', '40P01', '55P03']);

/**
 * Stores events in the transaction of the business change: both commit, or neither does.
 *
 * Events of a call are written by one statement. Every refusal before that statement leaves the transaction usable.
 */
export class OutboxService {
  private readonly wakeUps = new Map<string, () => void>();

  constructor(
    private readonly context: TransactionContext,
    private readonly store: EventStore,
    private readonly options: ResolvedOptions,
    /** Told the name of each destination that has new events, after their COMMIT. */
    private readonly emitted: Signal<string>,
    private readonly detector: SilentChangeDetector | undefined,
    private readonly telemetry: OutboxTelemetry,
  ) {}

  /**
   * Stores events in the transaction that `@EmitsEvent` or `transaction()` opened, or, given a manager, in its own.
   *
   * @returns the ids of the events, in order. They are stored when the promise resolves and final after COMMIT.
   * @throws NoActiveTransactionError, TransactionEndedError, ForeignDataSourceError when there is no such transaction;
   *   TransactionNotCommittedError when an earlier statement of it failed;
   *   InvalidEventError, UnserializablePayloadError, LimitExceededError, UnroutedEventError before any SQL;
   *   EventNotStoredError when PostgreSQL refused.
   */
  emit(events: object | readonly object[], options?: EmitOptions): Promise<string[]>;
  emit(manager: EntityManager, events: object | readonly object[], options?: EmitOptions): Promise<string[]>;
  emit(...args: unknown[]): Promise<string[]> {
    try {
      const call = readCall(args);
      // Before anything is awaited: a ticket taken later could be that of another transaction.
      return this.storeAll(this.context.ticket(call.manager), [call]);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Runs `work` in one transaction in which injected repositories, `dataSource.manager`, `dataSource.query` and emit()
   * take part. Joins the transaction that is already there; else opens one that commits when `work` resolves.
   *
   * @throws TransactionNotCommittedError when an error inside was swallowed, so that PostgreSQL rolled back.
   */
  transaction<T>(
    work: (manager: EntityManager) => Promise<T>,
    options: { readonly isolation?: IsolationLevel } = {},
  ): Promise<T> {
    return this.context.run(work, options);
  }

  /**
   * What `@EmitsEvent` does: runs `work` in a transaction and stores the events that it answers with, in one statement.
   *
   * @param managers those among the method's arguments; the first that has an active transaction here is joined.
   * @internal
   */
  runEmitting<T>(managers: readonly EntityManager[], work: () => Promise<EmittingResult<T>>): Promise<T> {
    const joined = managers.find((manager) => this.context.isActive(manager));
    return this.context.run(
      async (manager) => {
        const { result, emissions } = await work();
        if (emissions.some((emission) => emission.events.length > 0)) {
          await this.storeAll(this.context.ticket(manager), emissions);
        }
        return result;
      },
      { joinable: joined },
    );
  }

  private storeAll(ticket: BoundTicket, emissions: readonly Emission[]): Promise<string[]> {
    // Events that all belong to a trace of the caller's choice have been created there.
    if (emissions.every(({ options }) => carriesTrace(options.headers)))
      return this.writeAll(ticket, emissions, undefined);
    const events = emissions.flatMap((emission) => emission.events);
    return this.telemetry.emitting(events, (trace) => this.writeAll(ticket, emissions, trace));
  }

  private async writeAll(
    ticket: BoundTicket,
    emissions: readonly Emission[],
    trace: EventHeaders | undefined,
  ): Promise<string[]> {
    const prepared = await Promise.all(
      emissions.flatMap(({ events, options }) =>
        events.map((event) => prepareEvent(event, options, this.options, trace)),
      ),
    );
    try {
      await this.store.insert(ticket, prepared);
    } catch (error) {
      throw asNotStored(error);
    }
    this.detector?.noteEmitted(ticket.runner);
    for (const destination of new Set(prepared.flatMap((event) => event.destinations))) {
      ticket.onCommit(this.wakeUpFor(destination));
    }
    ticket.onCommit(() => this.telemetry.emitted(prepared.map(({ type }) => type)));
    return prepared.map((event) => event.id);
  }

  /** One function for each destination, so that a transaction remembers it once however much it emits. */
  private wakeUpFor(destination: string): () => void {
    const known = this.wakeUps.get(destination);
    if (known !== undefined) return known;
    const wakeUp = (): void => this.emitted.announce(destination);
    this.wakeUps.set(destination, wakeUp);
    return wakeUp;
  }
}

/** Events with what was said about them. */
export interface Emission {
  readonly events: readonly object[];
  readonly options: EmitOptions;
}

export interface EmittingResult<T> {
  readonly result: T;
  readonly emissions: readonly Emission[];
}

interface EmitCall extends Emission {
  readonly manager: EntityManager | undefined;
}

function readCall(args: readonly unknown[]): EmitCall {
  const [first, second, third] = args;
  if (isEvents(first)) return { manager: undefined, events: listOf(first), options: (second ?? {}) as EmitOptions };
  if (isEvents(second)) {
    if (!isManager(first)) {
      throw new NoActiveTransactionError(
        `emit(manager, event) got ${first === null ? 'null' : typeof first} as manager, and nothing was stored. Pass the manager of the open transaction.`,
      );
    }
    return { manager: first, events: listOf(second), options: (third ?? {}) as EmitOptions };
  }
  throw new InvalidEventError(
    'emit() got no outbox event. Pass an instance, or a list of instances, of a class that carries @OutboxEvent.',
  );
}

function isEvents(value: unknown): value is object | readonly object[] {
  if (Array.isArray(value)) return value.every(isEvent);
  return isEvent(value);
}

function isEvent(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const eventClass: unknown = value.constructor;
  return typeof eventClass === 'function' && findEventDefinition(eventClass) !== undefined;
}

function isManager(value: unknown): value is EntityManager {
  return typeof value === 'object' && value !== null && dataSourceOf(value as EntityManager) !== undefined;
}

function listOf(events: object | readonly object[]): readonly object[] {
  return Array.isArray(events) ? (events as readonly object[]) : [events];
}

function asNotStored(error: unknown): OutboxError {
  if (error instanceof OutboxError) return error;
  const sqlState = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unknown';
  return new EventNotStoredError(
    `PostgreSQL refused the events (${sqlState}), and the transaction can only be rolled back. See the cause.`,
    { retryable: RETRYABLE_SQLSTATES.has(sqlState), cause: error },
  );
}
