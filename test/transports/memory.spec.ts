import { MemoryTransport } from 'nestjs-transactional-outbox/memory';
import { describe } from 'vitest';
import { itKeepsTheContract } from './contract.js';

describe('MemoryTransport', () => {
  const transport = new MemoryTransport({
    respond: ({ envelope }) =>
      envelope.type === 'refused' ? { kind: 'dead', error: 'not taken' } : { kind: 'delivered' },
  });
  itKeepsTheContract(
    {
      open: () => transport,
      openUnreachable: () =>
        new MemoryTransport({ respond: () => ({ kind: 'unreachable', error: 'nobody is there' }) }),
      spoil: (event) => ({ ...event, envelope: { ...event.envelope, type: 'refused' } }),
    },
    async (count) => {
      const accepted = await transport.waitForCount(count, 10_000);
      transport.clear();
      return accepted.map(({ envelope }) => envelope);
    },
  );
});
