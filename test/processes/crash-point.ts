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
  finalize: /lane_is_ours/,
  record: /insert into "public"\."processed_events"/,
  shipment: /^INSERT INTO "shipments"/,
  redrive: /redriven as/,
  'prune-events': /delete from "public"\."outbox_event"/,
  'prune-deliveries': /kept as/,
};

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

function aboutToSend(connection: pg.Connection, text: string): void {
  if (statement?.test(text) !== true) return;
  if (moment === 'before') die();
  else connection.prependOnceListener('readyForQuery', die);
}

const { query, parse } = pg.Connection.prototype;
pg.Connection.prototype.query = function (text) {
  aboutToSend(this, text);
  query.call(this, text);
};
pg.Connection.prototype.parse = function (prepared, more) {
  aboutToSend(this, prepared.text);
  parse.call(this, prepared, more);
};

const { writeHead } = ServerResponse.prototype;
ServerResponse.prototype.writeHead = function (this: ServerResponse, ...args: unknown[]) {
  aboutToAnswer();
  return Reflect.apply(writeHead, this, args);
} as typeof writeHead;
