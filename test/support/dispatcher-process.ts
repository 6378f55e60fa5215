import { type ChildProgram, startChild } from './child-process.js';
import type { TestDatabase } from './database.js';
import type { RecordingServer } from './recording-server.js';

export const dispatcherProgram = new URL('../processes/dist/dispatcher.js', import.meta.url);
export const commitAndDieProgram = new URL('../processes/dist/commit-and-die.js', import.meta.url);

/** What the program `dispatcher` takes beside the database and the receiver; see there. */
export interface DispatcherSettings {
  readonly LEASE_MS?: number;
  readonly GRACE_MS?: number;
  readonly BATCH_SIZE?: number;
  readonly BATCHES_IN_FLIGHT?: number;
  readonly CONCURRENCY?: number;
  readonly PAUSE_BEFORE?: number;
  readonly DIE_BEFORE?: number;
}

export function environmentOf(
  database: TestDatabase,
  receiver: RecordingServer,
  settings: DispatcherSettings = {},
): Record<string, string> {
  const numbers = Object.entries(settings).map(([name, value]) => [name, String(value)]);
  return { DATABASE: database.url, RECEIVER: receiver.url, NO_COLOR: '1', ...Object.fromEntries(numbers) };
}

/** A dispatcher in a process of its own, running when this resolves. */
export async function startDispatcherProcess(
  database: TestDatabase,
  receiver: RecordingServer,
  settings: DispatcherSettings = {},
): Promise<ChildProgram> {
  const child = startChild(dispatcherProgram, { env: environmentOf(database, receiver, settings) });
  await child.waitForLine(/^ready$/);
  return child;
}

/** Ids of the events that a receiver was sent, in the order of arrival. */
export const receivedIds = (receiver: RecordingServer): string[] =>
  receiver.requests.map(({ headers }) => String(headers['webhook-id']));
