/** One question that users ask, and the targets that answer it. */
export interface Chapter {
  readonly title: string;
  readonly text: string;
  readonly ids: readonly string[];
}

export const CHAPTERS: readonly Chapter[] = [
  {
    title: 'How fast are events dispatched?',
    text: `A backlog lies in the tables and is worked off by a destination that does nothing and answers at once, so what is measured
is the path from the queue to the destination and back: claim, envelope, outcome, finalize. A real destination is slower than
that, and then it is the limit. Other packages get the same number of events of the same size, with a handler that does nothing,
in the configuration that their documentation recommends for throughput.`,
    ids: ['P1', 'P2', 'P8', 'P12'],
  },
  {
    title: 'Does it stay fast?',
    text: `Queues in PostgreSQL tend to slow down as they are used: finished rows have to be skipped until vacuum takes them away, and a
long transaction anywhere in the database keeps vacuum from doing so. Each of these situations is made on purpose and compared
with the same work without it.`,
    ids: ['P3', 'P9', 'P10', 'P13', 'SOAK'],
  },
  {
    title: 'How soon after the commit?',
    text: `From the moment at which the business transaction has committed to the call of the transport. The floor is what PostgreSQL's own
NOTIFY takes between two connections on this machine; nothing that is told by the database can be sooner.`,
    ids: ['P4'],
  },
  {
    title: 'What does it cost the business transaction?',
    text: `The same transaction with and without an event in it, and with and without wake-ups. Both sides write the same business rows
through TypeORM.`,
    ids: ['P5', 'P6'],
  },
  {
    title: 'What does order cost?',
    text: `The same backlog as unordered events and as ordered ones, with the aggregates spread evenly and with one that has most of the
events. Every delivery is checked: a single one out of order would make the measurement void.`,
    ids: ['P7'],
  },
  {
    title: 'What does receiving cost?',
    text: 'The inbox in front of a handler that writes one row, against the same handler alone.',
    ids: ['P11'],
  },
  {
    title: 'More processes, larger events',
    text: `No promise, but what to expect: how throughput and fairness change with the number of dispatcher processes, and what an event
costs the database. The [sizing guide](operations/sizing.md) draws conclusions from these.`,
    ids: ['P14', 'P15'],
  },
  {
    title: 'What does clean-up cost?',
    text: `No promise either: the events of an old day that were delivered everywhere, removed as a partition and row by row.
[Retention](operations/retention.md) says when to choose which.`,
    ids: ['P16'],
  },
];

export const FURTHER_TITLE = 'Further measurements';

export const PREAMBLE = `What the library promises about its speed, and what was measured. Every promise is a **ratio** between two sides that were measured
in the same run, on the same server, in turn: a machine that gets slower in the meantime slows both. Figures in events per second
are those of one machine; yours has others. The ratios are what can be expected to hold.

How to read the tables:

- **ours** is this library, **against** is what it is compared with. Each side has its median over all rounds, and in brackets
  the least and the most.
- **ratio** is the median of the ratios of each round, ours divided by against. For durations less is better, and the bound is an
  *at most*.
- A difference below 15 % is no finding: the same side varies that much from run to run.
- Rounds take turns, every second one in the opposite order, after one unmeasured warm-up of each side. Each side starts from the
  same state, which is restored before every round and not timed.`;

export const NOT_MEASURED = `- **Network distance.** Client and server share one machine. Each statement of yours takes a round trip longer, which small
  batches feel and large ones hardly do.
- **Another disk.** Commits wait for the disk of this machine. \`emit\` takes part in your commit and adds none.
- **Other versions.** One version of Node and one of PostgreSQL, named above.
- **PgBouncer**, replicas, synchronous replication, and a database that is busy with other things.
- **Days.** The soak runs for as long as it says.`;

/** About the promises that were missed when this was written; each figure in it was measured apart from the targets. */
export const MISSED = `A promise that is missed stays in the tables above, with its bound. What is known of the reasons, on two cores that client and server share:

- **P4, the median.** Between the answer to COMMIT and the publish lies one claim. With one event due it takes 0.6 to 0.7 ms, and 0.5 ms
  as a bare update without order, breaker and attempts; a round trip alone takes 0.1 ms. Tried: claims and notifications no longer wait for
  the disk ([why that is safe](decisions/0008-a-claim-does-not-wait-for-the-disk.md)).
- **P5.** A transaction with an order alone took 0.40 ms, and storing an event added 0.26 ms to it: 0.21 ms until the answer of its one statement
  (0.12 ms when it is repeated without a pause; its rows have five index entries), and 0.04 ms in the client. Plain values instead of one JSON
  text would save 0.03 ms. Tried: one round trip, a statement that stays prepared, no arrays ([figures](decisions/0006-emit-takes-one-json-text.md)).
- **P7, one key with half of all in retry.** Every claim walks over the events behind the one that waits, because a lane is read from its first event.
- **P8, P11.** Within 15 % of their bound, on either side of it from run to run.
- **P12.** The claims and finalizes of the dispatcher take their part of the two cores from sender and receiver.`;
