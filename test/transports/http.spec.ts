import { HttpTransport } from 'nestjs-transactional-outbox/http';
import { afterAll, beforeAll, describe } from 'vitest';
import type { HeldEvent } from '../../libs/outbox/src/testing/transport-contract/index.js';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.js';
import { itKeepsTheContract } from './contract.js';
import { Arrivals, structuredEvent } from './held-events.js';

const NOWHERE = 'http://127.0.0.1:1/events';

describe('HttpTransport', () => {
  const arrivals = new Arrivals<HeldEvent>();
  let server: RecordingServer;
  beforeAll(async () => {
    server = await startRecordingServer(({ body }) => {
      const event = structuredEvent(body.toString());
      if (event.type === 'refused') return { status: 422 };
      arrivals.add(event);
      return { status: 204 };
    });
  });
  afterAll(() => server.close());

  itKeepsTheContract(
    {
      open: () => new HttpTransport({ url: server === undefined ? NOWHERE : `${server.url}/events` }),
      openUnreachable: () => new HttpTransport({ url: NOWHERE }),
      spoil: (event) => ({ ...event, envelope: { ...event.envelope, type: 'refused' } }),
    },
    (count) => arrivals.take(count),
  );
});
