/** Something that runs one statement on a connection of its own choice, outside every transaction of the application. */
export interface SqlClient {
  query(text: string, values: readonly unknown[]): Promise<{ readonly rows: readonly SqlRow[] }>;
}

export type SqlRow = Readonly<Record<string, unknown>>;
