import type { Step, StepResult, TextRow } from './sql-client.js';

/** The part of a node-postgres client that is used here. */
export interface StepClient {
  /** True where statements are sent without waiting for the answer to the one before (node-postgres 8.23). */
  readonly pipeline?: boolean;
  query(config: string | StepQuery): Promise<StepAnswer>;
}

export interface StepQuery {
  /** Makes it a prepared statement. */
  readonly name: string | undefined;
  readonly text: string;
  readonly values: unknown[];
  readonly rowMode: 'array';
  readonly types: { getTypeParser(): (text: string) => string };
}

export interface StepAnswer {
  readonly rows: readonly unknown[];
  readonly rowCount: number | null;
}

const BEGIN = 'begin isolation level read committed';

/** Where a process could stop between two statements, its locks must not outlive it by more than this. */
const BEGIN_ONE_BY_ONE = `${BEGIN}; set local idle_in_transaction_session_timeout = '10s'`;

const asText = (text: string): string => text;
const AS_TEXT = { getTypeParser: () => asText };

/**
 * Runs the steps on one connection: a single one as it is, several in a transaction, all sent at once if the client can.
 *
 * @param isPrepared false where the session may be another one the next time, as behind a pooler.
 * @throws the error of the first step that failed; then the connection must not be used any more.
 */
export async function runSteps(
  client: StepClient,
  steps: readonly Step[],
  { isPrepared }: { readonly isPrepared: boolean },
): Promise<readonly StepResult[]> {
  const queries = steps.map(({ statement, values }): StepQuery => {
    const name = isPrepared ? statement.name : undefined;
    return { name, text: statement.text, values: [...values], rowMode: 'array', types: AS_TEXT };
  });
  return (await answersTo(client, queries)).map(({ rows, rowCount }) => ({
    rows: rows as readonly TextRow[], // by its mode and types above
    count: rowCount ?? 0,
  }));
}

async function answersTo(client: StepClient, queries: readonly StepQuery[]): Promise<readonly StepAnswer[]> {
  if (queries.length === 1) return inTurn(client, queries);
  if (client.pipeline !== true) {
    await client.query(BEGIN_ONE_BY_ONE);
    const answers = await inTurn(client, queries);
    await client.query('commit');
    return answers;
  }
  const answers = await allOf([BEGIN, ...queries, 'commit'].map((query) => client.query(query)));
  return answers.slice(1, -1);
}

async function inTurn(client: StepClient, queries: readonly StepQuery[]): Promise<readonly StepAnswer[]> {
  const answers: StepAnswer[] = [];
  for (const query of queries) answers.push(await client.query(query));
  return answers;
}

/** Waits for every answer, also behind the first failure: all have been sent. */
async function allOf(answers: readonly Promise<StepAnswer>[]): Promise<readonly StepAnswer[]> {
  const settled = await Promise.allSettled(answers);
  return settled.map((answer) => {
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value;
  });
}
