import { randomBytes } from 'node:crypto';
import { startEmbeddedPostgres } from 'embedded-postgres-server';
import pg from 'pg';
import type { Cleanup } from '../cleanup.js';
import { Database } from './database.js';

/** Where the demo's databases are: the server that DATABASE_URL names, or an embedded one that ends with the demo. */
export class DatabaseServer {
  /** Several demos may run on one server. */
  private readonly prefix = `outbox_demo_${randomBytes(4).toString('hex')}`;

  private constructor(
    private readonly adminUrl: string,
    private readonly isOurs: boolean,
    readonly description: string,
    private readonly cleanup: Cleanup,
  ) {}

  static async open(givenUrl: string | undefined, cleanup: Cleanup): Promise<DatabaseServer> {
    if (givenUrl) return DatabaseServer.openGiven(givenUrl, cleanup);
    const server = await startEmbeddedPostgres();
    await cleanup.add('the embedded PostgreSQL', () => server.stop());
    return new DatabaseServer(server.url, true, `embedded, at ${new URL(server.url).host}`, cleanup);
  }

  private static async openGiven(url: string, cleanup: Cleanup): Promise<DatabaseServer> {
    if (!URL.canParse(url))
      throw new Error('DATABASE_URL is no URL; give it as postgres://user:password@host:5432/postgres.');
    const { host } = new URL(url);
    const server = new DatabaseServer(url, false, `yours, at ${host}`, cleanup);
    try {
      await server.run('select 1');
    } catch (error) {
      const reason = error instanceof Error && 'code' in error ? error.code : error;
      throw new Error(`the PostgreSQL that DATABASE_URL names, at ${host}, cannot be used (${reason}).`, {
        cause: error,
      });
    }
    return server;
  }

  /** Creates an empty database, which is dropped when the demo ends. */
  async create(purpose: string): Promise<Database> {
    const name = `${this.prefix}_${purpose}`;
    await this.run(`create database ${name}`);
    await this.cleanup.add(`database ${name}`, () => this.run(`drop database if exists ${name} with (force)`));
    const url = new URL(this.adminUrl);
    url.pathname = `/${name}`;
    const shown = new URL(url);
    if (!this.isOurs) shown.password = '';
    const database = new Database(url.href, shown.href);
    await this.cleanup.add(`connections to ${name}`, () => database.close());
    return database;
  }

  private async run(sql: string): Promise<void> {
    const client = new pg.Client({ connectionString: this.adminUrl, application_name: 'demo' });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  }
}
