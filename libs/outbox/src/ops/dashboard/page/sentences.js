import { ago, count, duration, moment, several } from './format.js';
import { WORST_FIRST } from './signs.js';

/** The one sentence that whoever is on call reads first. */
export function headline(destinations) {
  if (destinations.length === 0)
    return [
      'unknown',
      'No destination yet',
      'The first one appears when a dispatcher has served it, or when an event waits for it.',
    ];
  const status = WORST_FIRST.find((one) => destinations.some((destination) => destination.status === one));
  const names = destinations.filter((one) => one.status === status).map(({ name }) => name);
  const dead = destinations.reduce((sum, one) => sum + one.dead, 0);
  const isGood = status === 'healthy';
  const title = {
    healthy: 'Events flow',
    lagging: `${list(names)} ${names.length === 1 ? 'lags' : 'lag'} behind`,
    paused: `${list(names)} ${names.length === 1 ? 'is' : 'are'} paused`,
    stopped: `Nothing moves to ${list(names)}`,
    unreachable: `${list(names)} cannot be reached`,
  }[status];
  const deadWords =
    dead === 0 ? 'no dead letters' : `${several(dead, 'dead letter')} ${dead === 1 ? 'waits' : 'wait'} for a decision`;
  const healthy = destinations.filter((one) => one.status === 'healthy').length;
  const rest = isGood
    ? `${several(healthy, 'destination')}, ${destinations.length === 1 ? 'healthy' : 'all healthy'}`
    : `${count(healthy)} of ${several(destinations.length, 'destination')} healthy`;
  return [isGood && dead > 0 ? 'dead' : status, title, `${rest}; ${deadWords}.`];
}

/** Why a destination is in its state, and what to do. */
export function because(destination) {
  const { status, pause, failures, error, resumeAt, progressedAt, pending, processing, expiredLeases } = destination;
  const last = progressedAt === undefined ? 'nothing was delivered yet' : `last delivery ${ago(progressedAt)}`;
  switch (status) {
    case 'paused':
      return `Since ${moment(pause.at)} by ${pause.by}: ${pause.reason}`;
    case 'unreachable':
      return `${several(failures, 'probe')} in a row failed${resumeAt === undefined ? '' : `, next one at ${moment(resumeAt)}`}. ${error ?? ''}`;
    case 'stopped':
      return `${several(pending + expiredLeases, 'event')} wait and nobody takes them; ${last}. Does a dispatcher run?`;
    case 'lagging':
      return `More comes than goes, or events wait for a retry; ${last}.`;
    default:
      if (pending + processing === 0)
        return progressedAt === undefined ? 'Nothing to deliver yet.' : `Nothing waits; ${last}.`;
      return `${several(pending + processing, 'event')} on the way; ${last}.`;
  }
}

export const age = (ms) => (ms === undefined ? 'none' : duration(ms));

function list(names) {
  if (names.length <= 2) return names.join(' and ');
  return `${names[0]} and ${names.length - 1} more`;
}
