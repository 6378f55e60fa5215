import { createHash } from 'node:crypto';

/** A statement that is run often on the application's own connections. */
export interface Statement {
  readonly text: string;
  /** Under which it stays prepared; undefined where it must not. */
  readonly name: string | undefined;
}

/** The name follows from the text, because several modules may share a connection, and a name means one text. */
export function statementOf(
  purpose: string,
  text: string,
  { preparesStatements }: { readonly preparesStatements: boolean },
): Statement {
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return { text, name: preparesStatements ? `${purpose}_${digest}` : undefined };
}
