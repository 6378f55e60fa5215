import assert from 'node:assert/strict';
import type { OutgoingEvent, Transport } from '../../transports/index.js';
import { sampleEvent, sampleSteps } from './sample-events.js';
import type { ContractCase, HeldEvent, Outcomes, TransportUnderTest } from './transport-under-test.js';

/** How long a transport may take to answer when its signal has aborted, in ms, and some time for a busy machine. */
const PROMPT_MS = 1000;
/** How long it may take to find out that nobody listens. */
const REFUSAL_MS = 20_000;

/**
 * What every transport promises, and what yours declares as its capabilities, as cases for your test runner:
 *
 * `for (const { title, run } of transportContract(myTransport)) it(title, run);`
 *
 * They need the real destination. Each case opens and closes transports of its own; they must not run side by side.
 */
export function transportContract(under: TransportUnderTest): readonly ContractCase[] {
  const declared = under.open();
  const { capabilities } = declared;
  const close = declared.close?.();
  const withTransport =
    (work: (transport: Transport) => Promise<void>, open: () => Transport = () => under.open()) =>
    async (): Promise<void> => {
      await close;
      const transport = open();
      try {
        await transport.connect?.();
        await work(transport);
      } finally {
        await transport.close?.();
      }
    };
  const cases: ContractCase[] = [
    {
      title: 'what it says is delivered, the destination has: id, type, payload, headers, aggregate and position',
      run: withTransport(async (transport) => {
        const events = [
          sampleEvent({ payload: { text: 'Grüße, 世界 "€" %20 \\', nested: { list: [1, null, true] } } }),
          sampleEvent({ payload: null }),
          sampleEvent({ payload: 'a text' }),
          sampleEvent({ payload: { filler: 'x'.repeat(50_000) } }),
          sampleEvent({ headers: { traceparent: TRACE_PARENT, tenant: 'Müller & Söhne', 'x-flag': '%41 "quoted"' } }),
          ...sampleSteps(1),
        ];
        const outcomes = await publish(transport, events);
        assert.deepEqual(
          kindsOf(outcomes),
          events.map(() => 'delivered'),
        );
        assert.deepEqual(byId(await under.take(events.length)), byId(events.map(asHeld)));
      }),
    },
    {
      title: 'it answers an outcome for each event, in their order, also when calls overlap',
      run: withTransport(async (transport) => {
        const batches = [3, 1, 2].map((size) =>
          Array.from({ length: capabilities.batch ? size : 1 }, () => sampleEvent()),
        );
        const answers = await Promise.all(batches.map((batch) => publish(transport, batch)));
        assert.deepEqual(
          answers.map(kindsOf),
          batches.map((batch) => batch.map(() => 'delivered')),
        );
        const sent = batches.flat();
        assert.deepEqual(byId(await under.take(sent.length)), byId(sent.map(asHeld)));
      }),
    },
    {
      title: 'where nobody listens, nothing is delivered, no attempt is spent, and it comes back to say so',
      run: async () => {
        await close;
        const transport = under.openUnreachable();
        try {
          const startedAt = performance.now();
          await Promise.resolve(transport.connect?.()).catch(() => undefined); // the dispatcher would try again later
          const outcomes = await publish(transport, [sampleEvent()], REFUSAL_MS);
          assert.ok(performance.now() - startedAt < 2 * REFUSAL_MS, 'it took too long to say that nobody listens');
          assert.deepEqual(kindsOf(outcomes), ['unreachable']);
        } finally {
          await transport.close?.();
        }
      },
    },
    {
      title: 'called off before it began, it sends nothing and says so at once',
      run: withTransport(async (transport) => {
        const startedAt = performance.now();
        const outcomes = await transport.publish([sampleEvent()], AbortSignal.abort(new Error('called off')));
        assert.ok(performance.now() - startedAt < PROMPT_MS, 'it did not answer at once');
        assert.ok(['held', 'retry'].includes(outcomes[0]?.kind ?? ''), `it answered ${outcomes[0]?.kind}`);
        await expectNext(transport, under);
      }),
    },
    {
      title: 'it can be closed at any time, and twice',
      run: async () => {
        await close;
        const transport = under.open();
        await transport.close?.();
        await transport.close?.();
      },
    },
  ];
  if (capabilities.keepsOrderPerKey) cases.push(keepsOrder(under, withTransport));
  cases.push(capabilities.deduplicates ? deduplicates(under, withTransport) : repeats(under, withTransport));
  cases.push(redrives(under, withTransport));
  cases.push(otherDestinations(under, withTransport));
  const { spoil, misroute } = under;
  if (spoil !== undefined) cases.push(refuses(under, withTransport, spoil));
  if (spoil !== undefined && capabilities.keepsOrderPerKey) cases.push(holds(under, withTransport, spoil));
  if (misroute !== undefined) cases.push(noticesMisrouted(under, withTransport, misroute));
  return cases;
}

type WithTransport = (work: (transport: Transport) => Promise<void>) => () => Promise<void>;

const TRACE_PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

function keepsOrder(under: TransportUnderTest, withTransport: WithTransport): ContractCase {
  return {
    title: 'declared: within a call the events of an aggregate are taken in the order given',
    run: withTransport(async (transport) => {
      const [one, other] = [sampleSteps(20), sampleSteps(20)];
      const mixed = one.flatMap((event, index) => [event, other[index] as OutgoingEvent]);
      assert.deepEqual(
        kindsOf(await publish(transport, mixed)),
        mixed.map(() => 'delivered'),
      );
      const taken = await under.take(mixed.length);
      for (const steps of [one, other]) {
        const ids = steps.map(({ envelope }) => envelope.id);
        assert.deepEqual(
          taken.filter(({ id }) => ids.includes(id)).map(({ id }) => id),
          ids,
        );
      }
    }),
  };
}

function deduplicates(under: TransportUnderTest, withTransport: WithTransport): ContractCase {
  return {
    title: 'declared: a second copy of an event is delivered, but not there twice',
    run: withTransport(async (transport) => {
      const event = sampleEvent();
      assert.deepEqual(kindsOf(await publish(transport, [event])), ['delivered']);
      assert.deepEqual(kindsOf(await publish(transport, [{ ...event, attempt: 2 }])), ['delivered']);
      await expectNext(transport, under, [event]);
    }),
  };
}

function repeats(under: TransportUnderTest, withTransport: WithTransport): ContractCase {
  return {
    title: 'declared: a second copy of an event is there twice, under the same id',
    run: withTransport(async (transport) => {
      const event = sampleEvent();
      for (const attempt of [1, 2])
        assert.deepEqual(kindsOf(await publish(transport, [{ ...event, attempt }])), ['delivered']);
      assert.deepEqual(
        (await under.take(2)).map(({ id }) => id),
        [event.envelope.id, event.envelope.id],
      );
    }),
  };
}

function otherDestinations(under: TransportUnderTest, withTransport: WithTransport): ContractCase {
  return {
    title: 'an event for two destinations in one place comes for each of them',
    run: withTransport(async (transport) => {
      const event = sampleEvent();
      const copies = [event, { ...event, destination: `${event.destination}-2` }];
      for (const copy of copies) assert.deepEqual(await publish(transport, [copy]), [{ kind: 'delivered' }]);
      assert.deepEqual(
        (await under.take(copies.length)).map(({ id }) => id),
        copies.map(({ envelope }) => envelope.id),
      );
    }),
  };
}

function redrives(under: TransportUnderTest, withTransport: WithTransport): ContractCase {
  return {
    title: 'an event that somebody redrives is really sent again, each time, under the same id',
    run: withTransport(async (transport) => {
      const event = sampleEvent();
      const copies = [0, 1, 2].map((times) => ({ ...event, redrives: times }));
      for (const copy of copies) assert.deepEqual(kindsOf(await publish(transport, [copy])), ['delivered']);
      assert.deepEqual(
        (await under.take(copies.length)).map(({ id }) => id),
        copies.map(({ envelope }) => envelope.id),
      );
    }),
  };
}

function refuses(
  under: TransportUnderTest,
  withTransport: WithTransport,
  spoil: (event: OutgoingEvent) => OutgoingEvent,
): ContractCase {
  return {
    title: 'an event that cannot be taken is dead, and those beside it are delivered',
    run: withTransport(async (transport) => {
      const [first, last] = [sampleEvent(), sampleEvent()];
      const bad = spoil(sampleEvent());
      const outcomes = transport.capabilities.batch
        ? await publish(transport, [first, bad, last])
        : (await Promise.all([first, bad, last].map((event) => publish(transport, [event])))).flat();
      assert.deepEqual(kindsOf(outcomes), ['delivered', 'dead', 'delivered']);
      assert.deepEqual(byId(await under.take(2)), byId([first, last].map(asHeld)));
    }),
  };
}

function holds(
  under: TransportUnderTest,
  withTransport: WithTransport,
  spoil: (event: OutgoingEvent) => OutgoingEvent,
): ContractCase {
  return {
    title: 'declared: behind an event that cannot be taken, the later ones of its aggregate are held, and no others',
    run: withTransport(async (transport) => {
      const [first, second, third] = sampleSteps(3) as [OutgoingEvent, OutgoingEvent, OutgoingEvent];
      const other = sampleEvent();
      const outcomes = await publish(transport, [first, spoil(second), other, third]);
      assert.deepEqual(kindsOf(outcomes), ['delivered', 'dead', 'delivered', 'held']);
      assert.deepEqual(byId(await under.take(2)), byId([first, other].map(asHeld)));
    }),
  };
}

function noticesMisrouted(
  under: TransportUnderTest,
  withTransport: WithTransport,
  misroute: (event: OutgoingEvent) => OutgoingEvent,
): ContractCase {
  return {
    title: 'an event that nobody gets is not delivered, and ten beside it are',
    run: withTransport(async (transport) => {
      const good = Array.from({ length: 10 }, () => sampleEvent());
      const batch = [...good.slice(0, 5), misroute(sampleEvent()), ...good.slice(5)];
      const outcomes = await publish(transport, batch);
      assert.deepEqual(
        kindsOf(outcomes),
        batch.map((_, index) => (index === 5 ? 'retry' : 'delivered')),
      );
      assert.deepEqual(byId(await under.take(good.length)), byId(good.map(asHeld)));
    }),
  };
}

/** What the destination gets next is what is published now: nothing else has come meanwhile but `before`. */
async function expectNext(
  transport: Transport,
  under: TransportUnderTest,
  before: readonly OutgoingEvent[] = [],
): Promise<void> {
  const marker = sampleEvent();
  assert.deepEqual(kindsOf(await publish(transport, [marker])), ['delivered']);
  const expected = [...before, marker];
  assert.deepEqual(byId(await under.take(expected.length)), byId(expected.map(asHeld)));
}

async function publish(transport: Transport, batch: readonly OutgoingEvent[], timeoutMs = 10_000): Promise<Outcomes> {
  const outcomes = await transport.publish(batch, AbortSignal.timeout(timeoutMs));
  assert.equal(outcomes.length, batch.length, 'one outcome for each event');
  return outcomes;
}

function kindsOf(outcomes: Outcomes): string[] {
  return outcomes.map((outcome) => outcome.kind);
}

function asHeld({ envelope }: OutgoingEvent): HeldEvent {
  return envelope;
}

/** Only what is compared: a destination may say more of an event. */
function byId(events: readonly HeldEvent[]): HeldEvent[] {
  return events
    .map(({ id, type, payload, headers, aggregateId, sequence }) => ({
      id,
      type,
      payload,
      headers,
      aggregateId,
      sequence,
    }))
    .sort((one, other) => (one.id < other.id ? -1 : 1));
}
