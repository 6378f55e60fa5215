import pg from 'pg';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  /** Zero for what was planned and never executed. */
  readonly 'Actual Loops': number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

export interface ExecutedPlan {
  /** `Index Scan outbox_delivery outbox_delivery_lane` for each node that read a table. */
  readonly reads: readonly string[];
  /** Pages of the buffer cache that were touched, each touch counted. */
  readonly buffers: number;
}

/**
 * How PostgreSQL executes a statement: it is executed and rolled back.
 *
 * @param settings of the session, as statements.
 */
export async function explain(
  url: string,
  text: string,
  values: readonly unknown[],
  settings = '',
): Promise<ExecutedPlan> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(settings);
    await client.query('begin');
    const { rows } = await client.query(`explain (analyze, buffers, format json) ${text}`, [...values]);
    await client.query('rollback');
    // The shape that PostgreSQL documents for its JSON format.
    const [{ Plan }] = rows[0]['QUERY PLAN'] as [{ Plan: PlanNode }];
    return {
      reads: [...nodesOf(Plan)].flatMap(readOf),
      buffers: Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'],
    };
  } finally {
    await client.end();
  }
}

function* nodesOf(node: PlanNode): Generator<PlanNode> {
  yield node;
  for (const child of node.Plans ?? []) yield* nodesOf(child);
}

function readOf(node: PlanNode): string[] {
  const { 'Node Type': type, 'Relation Name': table, 'Index Name': index, 'Actual Loops': loops } = node;
  if (table === undefined || type === 'ModifyTable' || loops === 0) return [];
  return [index === undefined ? `${type} ${table}` : `${type} ${table} ${index}`];
}
