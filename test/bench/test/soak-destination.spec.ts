import type { OutgoingEvent } from 'nestjs-transactional-outbox';
import { describe, expect, it } from 'vitest';
import { SoakDestination } from '../src/soak/soak-destination.js';

function event(aggregateId: string, sequence: bigint | undefined, attempt = 1): OutgoingEvent {
  const envelope = {
    id: `${aggregateId}-${sequence}`,
    type: 'bench.stepped',
    aggregateType: 'bench',
    aggregateId,
    payload: {},
    headers: {},
    version: 1,
    sequence,
    createdAt: new Date(0),
  };
  return { envelope, destination: 'shaky', attempt, redrives: 0 };
}

describe('a destination of the soak', () => {
  const kinds = async (destination: SoakDestination, batch: readonly OutgoingEvent[]): Promise<string[]> =>
    (await destination.publish(batch)).map(({ kind }) => kind);

  it('cannot be reached while it is down, and counts nothing then', async () => {
    let isDown = true;
    const destination = new SoakDestination({ isDown: () => isDown });
    expect(await kinds(destination, [event('a', 1n), event('b', undefined)])).toEqual(['unreachable', 'unreachable']);
    isDown = false;
    expect(await kinds(destination, [event('a', 1n)])).toEqual(['delivered']);
    expect(destination.delivered).toBe(1);
  });

  it('holds what follows a refused event of the same aggregate, and refuses none twice', async () => {
    const destination = new SoakDestination({ refuseEvery: 2 });
    const batch = [event('a', 1n), event('b', 1n), event('b', 2n), event('c', undefined)];
    expect(await kinds(destination, batch)).toEqual(['delivered', 'retry', 'held', 'delivered']);
    expect(await kinds(destination, [event('b', 1n, 2), event('b', 2n, 2)])).toEqual(['delivered', 'delivered']);
    expect(destination.outOfOrder).toBe(0);
  });

  it('a gap is out of order, a repetition is not', async () => {
    const destination = new SoakDestination();
    await destination.publish([event('a', 1n), event('a', 2n), event('a', 1n), event('a', 3n)]);
    expect(destination.outOfOrder).toBe(0);
    await destination.publish([event('a', 5n)]);
    expect(destination.outOfOrder).toBe(1);
  });
});
