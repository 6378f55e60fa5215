/** Something that runs one statement on a connection of its own choice, outside every transaction of the application. */
export interface SqlClient {
  query(text: string, values: readonly unknown[]): Promise<{ readonly rows: readonly SqlRow[] }>;
}

export type SqlRow = Readonly<Record<string, unknown>>;

/** A statement that is sent again and again with other values: prepared once per connection, where that is possible. */
export interface Statement {
  /** Unique among the statements of a client; at most 63 bytes. */
  readonly name: string;
  readonly text: string;
}

/** One execution of a statement. */
export interface Step {
  readonly statement: Statement;
  readonly values: readonly unknown[];
}

/** Columns in the order of the statement, each as PostgreSQL writes it as text. */
export type TextRow = readonly (string | null)[];

export interface StepResult {
  readonly rows: readonly TextRow[];
  /** Rows written, or read by a select. */
  readonly count: number;
}

/** Runs several statements as one: all of them or none, in one round trip and with one commit. */
export interface SqlSteps {
  /** @throws the error of the first step that failed; then none was done. */
  execute(steps: readonly Step[]): Promise<readonly StepResult[]>;
}
