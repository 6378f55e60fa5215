import { ConfigurationError } from '../errors/index.js';
import type { OutboxTableOptions } from './module-options.js';

const MAX_IDENTIFIER_BYTES = 63;
/** Room for what is appended to a table's name to name its indexes. */
const MAX_TABLE_BYTES = 48;

/** @throws ConfigurationError when the name is empty, holds NUL, or is longer than 63 bytes. */
export function resolveSchema(schema: string | undefined): string {
  return identifier('schema', schema ?? 'public', MAX_IDENTIFIER_BYTES);
}

/** @throws ConfigurationError when a name is unusable, or two tables share one. */
export function resolveTables(tables: OutboxTableOptions = {}): Required<OutboxTableOptions> {
  const resolved = {
    event: identifier('tables.event', tables.event ?? 'outbox_event', MAX_TABLE_BYTES),
    delivery: identifier('tables.delivery', tables.delivery ?? 'outbox_delivery', MAX_TABLE_BYTES),
    lane: identifier('tables.lane', tables.lane ?? 'outbox_lane', MAX_TABLE_BYTES),
    aggregate: identifier('tables.aggregate', tables.aggregate ?? 'outbox_aggregate', MAX_TABLE_BYTES),
    destination: identifier('tables.destination', tables.destination ?? 'outbox_destination', MAX_TABLE_BYTES),
  };
  const names = Object.entries({
    ...Object.fromEntries(Object.entries(resolved).map(([key, name]) => [`"tables.${key}"`, name])),
    // Made beside the tables, in the same schema.
    'the archive of "tables.delivery"': `${resolved.delivery}_archive`,
    'the operations of "tables.delivery"': `${resolved.delivery}_operation`,
    'the sequence of "tables.delivery"': `${resolved.delivery}_token`,
    'the status view of "tables.event"': `${resolved.event}_status`,
    'the default partition of "tables.event"': `${resolved.event}_default`,
    'the first partition of "tables.event"': `${resolved.event}_legacy`,
    'the table of the schema version': 'outbox_schema_version',
  });
  for (const [index, [what, name]] of names.entries()) {
    const twin = names.slice(index + 1).find(([, other]) => other === name);
    if (twin) throw new ConfigurationError(`${what} and ${twin[0]} are both "${name}". Give each table its own name.`);
  }
  return resolved;
}

/** @throws ConfigurationError when PostgreSQL could not take the name as it is. */
export function identifier(option: string, name: string, maxBytes: number): string {
  const bytes = Buffer.byteLength(name, 'utf8');
  if (bytes === 0 || bytes > maxBytes || name.includes('\u0000')) {
    throw new ConfigurationError(
      `"${option}" is ${JSON.stringify(name)}; a name has 1 to ${maxBytes} bytes and no NUL.`,
    );
  }
  return name;
}
