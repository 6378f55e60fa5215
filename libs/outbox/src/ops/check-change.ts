import { ConfigurationError } from '../errors/index.js';
import type { ManualChange } from '../store/index.js';

const LONGEST_NAME = 200;
const LONGEST_REASON = 1000;
const BIGINT = /^\d{1,19}$/;
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** @throws ConfigurationError when nobody could tell later who changed something, and why. */
export function checkChange(action: string, change: ManualChange): void {
  checkText(action, 'by', 'who does this', change?.by, LONGEST_NAME);
  checkText(action, 'reason', 'why', change?.reason, LONGEST_REASON);
}

/** @throws ConfigurationError when a change by hand would reach everything there is. */
export function checkCondition(action: string, filter: object): void {
  if (Object.values(filter).some((condition) => condition !== undefined)) return;
  throw new ConfigurationError(
    `${action}() got an empty filter, which would select everything. Name at least one condition.`,
  );
}

/** @throws ConfigurationError for an id that no delivery can have. */
export function checkDeliveryIds(ids: readonly string[] | undefined): void {
  refuseOther(ids, BIGINT, 'no id of a delivery; those are numbers, as the list shows them');
}

/** @throws ConfigurationError for an id that no event can have. */
export function checkEventIds(ids: readonly string[] | undefined): void {
  refuseOther(ids, UUID, 'no id of an event; those are UUIDs');
}

function refuseOther(ids: readonly string[] | undefined, form: RegExp, problem: string): void {
  const wrong = ids?.find((id) => !form.test(id));
  if (wrong !== undefined) throw new ConfigurationError(`${JSON.stringify(wrong)} is ${problem}.`);
}

function checkText(action: string, field: string, meaning: string, text: unknown, longest: number): void {
  if (typeof text === 'string' && text.trim() !== '' && text.length <= longest && !text.includes('\u0000')) return;
  throw new ConfigurationError(
    `${action}() needs to know ${meaning}: "${field}" is text of 1 to ${longest} characters. Nothing was changed.`,
  );
}
