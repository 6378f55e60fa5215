import { UsageError } from './cli-error.js';
import type { OutboxServices } from './services.js';
import type { Session } from './session.js';

/** What was given of a filter; empty when nothing was. */
export function givenOf<Filter extends object>(filter: Filter): Partial<Filter> {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Partial<Filter>; // some of its own entries
}

/**
 * Everything is asked for in so many words, or not at all.
 *
 * @throws UsageError when neither a condition nor --all is there, or both are.
 */
export function requireSelection(filter: object, isAll: boolean | undefined): void {
  const isEmpty = Object.keys(filter).length === 0;
  if (isEmpty && !isAll) {
    throw new UsageError('that would be everything. Name at least one condition, or say --all. Nothing was changed.');
  }
  if (!isEmpty && isAll) {
    throw new UsageError('--all and a condition contradict each other. Leave one of them out. Nothing was changed.');
  }
}

/** @throws UsageError for a destination that neither the configuration nor the database knows. */
export async function requireKnownDestination(
  destination: string | undefined,
  session: Session,
  services: OutboxServices,
): Promise<void> {
  if (destination === undefined) return;
  const known = new Set([
    ...(session.outboxOptions?.destinations.keys() ?? []),
    ...(await services.destinations.list()).map((state) => state.destination),
    ...(await services.database.queuedDestinations(session.outboxNames)),
  ]);
  if (known.has(destination)) return;
  const names = [...known].sort().join(', ') || 'none yet';
  throw new UsageError(`${JSON.stringify(destination)} is no destination. Known are: ${names}.`);
}
