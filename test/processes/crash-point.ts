import { writeSync } from 'node:fs';
import { ServerResponse } from 'node:http';
import pg from 'pg';

// Preloaded (`--import`) into a program that is to die: kills the process with SIGKILL at the point that DIE_AT names.
// `before <statement>`: nothing of the statement was sent; `after <statement>`: PostgreSQL has carried it out, its
// answer is here, and nobody has seen it; `before answer`: the caller of this process was told nothing yet. Without
// DIE_AT nothing happens.

const STATEMENTS: Readonly<Record<string, RegExp>> = {
  begin: /^START TRANSACTION/,
  order: /^INSERT INTO "orders"/,
  event: /insert into "public"\."outbox_event"/,
  commit: /^COMMIT$/,
  'wake-up': /pg_notify/,
  claim: /free_lane as/,
  renewal: /renewed as/,
  finalize:
    /^(update "public"\."outbox_lane" set lease_owner = null|delete from "public"\."outbox_delivery" where)|lane_is_ours/,
  record: /insert into "public"\."processed_events"/,
  shipment: /^INSERT INTO "shipments"/,
  redrive: /, 'redrive', /,
  'prune-events': /delete from "public"\."outbox_event"/,
  'prune-deliveries': /kept as/,
};

/** Statements whose work counts from the commit of their own transaction on. */
const COUNTED_AT_COMMIT = ['prune-events', 'prune-deliveries'];

const { DIE_AT = '' } = process.env;
const [moment = '', name = ''] = DIE_AT.split(' ');
const statement = STATEMENTS[name];
if (statement === undefined && !['', 'before answer'].includes(DIE_AT))
  throw new Error(`DIE_AT names no point: ${DIE_AT}`);

function die(): void {
  // Not a stream, which might still hold the line when the process is gone.
  writeSync(1, `dies ${DIE_AT}\n`);
  process.kill(process.pid, 'SIGKILL');
}

/** For the program itself: it is about to tell its caller how it went. */
export function aboutToAnswer(): void {
  if (DIE_AT === 'before answer') die();
}

/** Connections with a transaction under way whose statements were all sent at once. */
const inSteps = new WeakSet<pg.Connection>();

function aboutToSend(connection: pg.Connection, text: string): void {
  if (text === 'begin isolation level read committed') inSteps.add(connection);
  if (text === 'commit') inSteps.delete(connection);
  if (statement?.test(text) !== true) return;
  if (moment === 'before') die();
  else if (inSteps.has(connection) || COUNTED_AT_COMMIT.includes(name)) dieAfterCommit(connection);
  else connection.prependOnceListener('readyForQuery', die);
}

function dieAfterCommit(connection: pg.Connection): void {
  connection.prependListener('commandComplete', ({ text }: { text: string }) => {
    if (text === 'COMMIT') connection.prependOnceListener('readyForQuery', die);
  });
}

const { query, parse, bind } = pg.Connection.prototype;
/** What each connection has prepared, by name; a statement without a name has the empty one. */
const prepared = new WeakMap<pg.Connection, Map<string, string>>();
pg.Connection.prototype.query = function (text) {
  aboutToSend(this, text);
  query.call(this, text);
};
pg.Connection.prototype.parse = function (named, more) {
  const known = prepared.get(this) ?? new Map<string, string>();
  prepared.set(this, known.set(named.name ?? '', named.text));
  // The statement is on its way from here on, if only to be planned.
  if (moment === 'before') aboutToSend(this, named.text);
  parse.call(this, named, more);
};
pg.Connection.prototype.bind = function (config, more) {
  aboutToSend(this, prepared.get(this)?.get(config?.statement ?? '') ?? '');
  bind.call(this, config, more);
};

const { writeHead } = ServerResponse.prototype;
ServerResponse.prototype.writeHead = function (this: ServerResponse, ...args: unknown[]) {
  aboutToAnswer();
  return Reflect.apply(writeHead, this, args);
} as typeof writeHead;
