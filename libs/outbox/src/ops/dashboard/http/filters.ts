import type { BlockedKeyFilter, DeadLetterFilter, ReplayFilter } from '../../../store/index.js';
import type { Fields } from './fields.js';

export const DEAD_LETTER_FILTER = [
  'destination',
  'ids',
  'type',
  'aggregateType',
  'aggregateId',
  'createdBefore',
  'createdAfter',
] as const;

export const REPLAY_FILTER = [
  'destination',
  'eventIds',
  'type',
  'aggregateType',
  'aggregateId',
  'emittedBefore',
  'emittedAfter',
] as const;

export const BLOCKED_KEY_FILTER = ['destination', 'aggregateType', 'aggregateId'] as const;

export function deadLetterFilter(fields: Fields): DeadLetterFilter {
  return {
    ...blockedKeyFilter(fields),
    ids: fields.ids('ids'),
    type: fields.text('type'),
    createdBefore: fields.date('createdBefore'),
    createdAfter: fields.date('createdAfter'),
  };
}

export function replayFilter(fields: Fields): ReplayFilter {
  return {
    ...blockedKeyFilter(fields),
    eventIds: fields.ids('eventIds'),
    type: fields.text('type'),
    emittedBefore: fields.date('emittedBefore'),
    emittedAfter: fields.date('emittedAfter'),
  };
}

export function blockedKeyFilter(fields: Fields): BlockedKeyFilter {
  return {
    destination: fields.text('destination', 100),
    aggregateType: fields.text('aggregateType'),
    aggregateId: fields.text('aggregateId'),
  };
}
