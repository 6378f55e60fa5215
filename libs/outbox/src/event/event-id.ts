import { v7 } from 'uuid';

/** A new event id: UUID version 7 (RFC 9562), so that ids of one process sort by the time they were made. */
export function newEventId(): string {
  return v7();
}
