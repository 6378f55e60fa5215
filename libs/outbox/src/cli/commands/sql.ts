import { inboxSchemaSql, outboxSchemaSql } from '../../store/index.js';
import type { Answer } from '../answer.js';
import { addCommand, type Call, type Shelf } from '../command.js';

interface SqlOptions {
  readonly inbox?: boolean;
}

export function addSql(shelf: Shelf): void {
  addCommand(shelf, shelf.program, 'sql', 'print the SQL of the tables, for another migration tool', work).option(
    '--inbox',
    'the table of the inbox instead',
  );
}

async function work({ session, options }: Call<SqlOptions>): Promise<Answer> {
  const { outbox, inbox } = session.config ?? {};
  const schema = options.schema ?? (options.inbox ? inbox : outbox)?.schema;
  const place = schema === undefined ? {} : { schema };
  const sql = options.inbox
    ? inboxSchemaSql({ ...place, ...(inbox?.table !== undefined && { table: inbox.table }) })
    : outboxSchemaSql({ ...place, ...(outbox?.tables && { tables: outbox.tables }) });
  return { data: { sql }, text: sql.trimEnd() };
}
