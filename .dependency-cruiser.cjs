// The dependency table of CONTRIBUTING.md. Everything points one way: what a room may import, and nothing else.
// Each rule has a planted violation in test/architecture, because a guard that was never seen red proves nothing.

const SOURCE = '^libs/outbox/src/';

const ROOMS = {
  errors: [],
  runtime: ['errors'],
  transaction: ['errors'],
  event: ['errors', 'runtime'],
  telemetry: ['event', 'errors', 'runtime'],
  transports: ['event', 'errors', 'runtime'],
  config: ['transports', 'transaction', 'event', 'errors'],
  store: ['transaction', 'config', 'event', 'errors', 'runtime'],
  emit: ['store', 'transaction', 'config', 'telemetry', 'event', 'errors', 'runtime'],
  inbox: ['store', 'transaction', 'config', 'telemetry', 'event', 'errors', 'runtime'],
  dispatch: ['store', 'transports', 'config', 'telemetry', 'event', 'errors', 'runtime'],
  ops: ['inbox', 'store', 'config', 'telemetry', 'event', 'errors', 'runtime'],
  cli: ['ops', 'inbox', 'store', 'config', 'event', 'errors', 'runtime'],
  testing: [
    'emit',
    'inbox',
    'dispatch',
    'store',
    'transports',
    'config',
    'transaction',
    'telemetry',
    'event',
    'errors',
    'runtime',
  ],
};

/** Client libraries that a user installs, or loads, only for the transport that needs them. */
const TRANSPORT_CLIENTS = {
  http: 'undici',
  kafka: 'kafkajs',
  rabbitmq: 'amqplib|amqp-connection-manager',
  'redis-streams': 'ioredis',
  nats: '@nats-io/[^/]+',
  sqs: '@aws-sdk/client-sqs',
};

const roomRules = Object.entries(ROOMS).map(([room, mayImport]) => ({
  name: `room-${room}`,
  severity: 'error',
  comment: `${room}/ may import ${mayImport.join(', ') || 'no other room'}.`,
  from: { path: `${SOURCE}${room}/` },
  to: { path: SOURCE, pathNot: `${SOURCE}(${[room, ...mayImport].join('|')})/` },
}));

/** The same for what belongs to operating. */
const OPERATING_CLIENTS = {
  health: '@nestjs/terminus',
};

const onlyIn = (name, folder, client) => ({
  name,
  severity: 'error',
  comment: `${client} is imported by ${folder}/ only: who does without that must not need it.`,
  from: { path: SOURCE, pathNot: `${SOURCE}${folder}/` },
  to: { path: `(^|node_modules/)(${client})(/|$)` },
});

const clientRules = [
  ...Object.entries(TRANSPORT_CLIENTS).map(([transport, client]) =>
    onlyIn(`optional-client-only-in-its-transport-${transport}`, `transports/${transport}`, client),
  ),
  ...Object.entries(OPERATING_CLIENTS).map(([part, client]) =>
    onlyIn(`optional-client-only-in-ops-${part}`, `ops/${part}`, client),
  ),
];

module.exports = {
  forbidden: [
    ...roomRules,
    ...clientRules,
    {
      name: 'known-rooms-only',
      severity: 'error',
      comment: 'A new folder below src/ is a new room: give it a line in the table.',
      from: { path: `${SOURCE}[^/]+/`, pathNot: `${SOURCE}(${Object.keys(ROOMS).join('|')})/` },
      to: {},
    },
    {
      name: 'no-circular',
      severity: 'error',
      comment: 'Two files that need each other are one file, or a third one is missing.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-deep-import-of-another-room',
      severity: 'error',
      comment: 'A room is what its index.ts exports (a transport: what its own index.ts exports).',
      from: { path: `${SOURCE}([^/]+)` },
      to: {
        path: `${SOURCE}[^/]+/`,
        pathNot: [`${SOURCE}$1/`, `${SOURCE}[^/]+/index[.]ts$`, `${SOURCE}transports/[^/]+/index[.]ts$`],
      },
    },
    {
      name: 'root-entry-imports-no-transport-folder',
      severity: 'error',
      comment: 'The root entry loads no transport, not even by a detour: each is a subpath of its own.',
      from: { path: `${SOURCE}[^/]+[.]ts$` },
      to: { path: `${SOURCE}transports/[^/]+/`, reachable: true },
    },
    {
      name: 'root-entry-loads-no-argument-parser',
      severity: 'error',
      comment:
        'An application does not load the command line: of cli/ the root entry knows the shape of the configuration file.',
      from: { path: `${SOURCE}[^/]+[.]ts$` },
      to: { path: '(^|node_modules/)commander(/|$)', reachable: true },
    },
    {
      name: 'root-entry-imports-no-dashboard',
      severity: 'error',
      comment: 'Who does not mount the page does not load it: it is a subpath of its own.',
      from: { path: `${SOURCE}[^/]+[.]ts$` },
      to: { path: `${SOURCE}ops/dashboard/`, reachable: true },
    },
    {
      name: 'only-declared-packages',
      severity: 'error',
      comment: 'What the library imports stands in libs/outbox/package.json, as a dependency or a peer.',
      from: { path: SOURCE },
      // An optional peer is also found in `peerDependenciesMeta`, which the cruiser takes for no declaration at all.
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev', 'unknown'], dependencyTypesNot: ['npm-peer'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Type imports count: the declarations of the root entry must not need an optional package either.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types'],
    },
  },
};
