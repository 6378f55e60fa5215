import { DataSource, type DataSourceOptions } from 'typeorm';
import { describeError } from '../../errors/index.js';
import { Failure } from '../cli-error.js';

const CONNECT_TIMEOUT_MS = 10_000;
const POOL_SIZE = 2;

/**
 * A connection of the command line's own, to where the application connects. What an application may do at its start,
 * synchronising and migrating, is switched off: `outbox status` changes nothing.
 *
 * @throws Failure when the database does not answer.
 */
export async function connect(options: DataSourceOptions): Promise<DataSource> {
  const isPostgres = options.type === 'postgres';
  const dataSource = new DataSource({
    ...options,
    entities: [],
    migrations: [],
    subscribers: [],
    synchronize: false,
    migrationsRun: false,
    dropSchema: false,
    logging: false,
    cache: false,
    ...(isPostgres && {
      poolSize: POOL_SIZE,
      extra: { ...(options.extra as object | undefined), max: POOL_SIZE, application_name: 'outbox-cli' },
      connectTimeoutMS: options.connectTimeoutMS ?? CONNECT_TIMEOUT_MS,
      installExtensions: false,
    }),
  } as DataSourceOptions); // the options of one kind of database, with what all kinds have set anew
  try {
    return await dataSource.initialize();
  } catch (error) {
    throw new Failure(
      `${placeOf(options)} does not answer: ${describeError(error)}. Check the address, and that it runs.`,
      error,
    );
  }
}

/** Where that is, without user and password. */
function placeOf(options: DataSourceOptions): string {
  if (options.type !== 'postgres') return `the database (${options.type})`;
  const { url, host = 'localhost', port = 5432, database } = options;
  if (url === undefined) return `PostgreSQL at ${host}:${port}, database ${JSON.stringify(database ?? '')},`;
  try {
    const { host: place, pathname } = new URL(url);
    return `PostgreSQL at ${place}, database ${JSON.stringify(decodeURIComponent(pathname.slice(1)))},`;
  } catch {
    return 'PostgreSQL'; // no URL: pg has said so
  }
}
