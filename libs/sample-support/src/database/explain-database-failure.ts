/** The database cannot be used; the message says what to do. */
export class DatabaseUnavailableError extends Error {}

/** Says in one sentence why connecting failed and what to run; never shows the password. */
export function explainDatabaseFailure(error: unknown, url: string): DatabaseUnavailableError {
  if (!URL.canParse(url))
    return new DatabaseUnavailableError('DATABASE_URL is no URL: encode what is special in its password.');
  const { host, hostname, port, username, pathname } = new URL(url);
  const database = pathname.slice(1);
  return new DatabaseUnavailableError(reason(), { cause: error });

  function reason(): string {
    switch (codeOf(error)) {
      case 'ECONNREFUSED':
      case 'ENOTFOUND':
      case 'EAI_AGAIN':
      case 'ETIMEDOUT':
        return `PostgreSQL does not answer at ${host}: start it, or correct DATABASE_URL (\`pg_isready -h ${hostname} -p ${port || 5432}\` tells when it does).`;
      case '3D000':
        return `the database "${database}" does not exist at ${host}: create it with \`createdb -h ${hostname} -p ${port || 5432} -U ${username} ${database}\`, or correct DATABASE_URL.`;
      case '28P01':
      case '28000':
        return `PostgreSQL at ${host} does not let the user "${username}" in: correct the password in DATABASE_URL.`;
      default:
        return `the database "${database}" at ${host} cannot be used (${String(error)}): correct DATABASE_URL.`;
    }
  }
}

/** A name that has several addresses fails with one error for each of them. */
function codeOf(error: unknown): unknown {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
