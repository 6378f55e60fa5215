import { inspect } from 'node:util';
import { OutboxError, SchemaVersionError } from 'nestjs-transactional-outbox';
import { DatabaseUnavailableError } from '../database/explain-database-failure.js';
import { EnvironmentError } from '../environment/read-environment.js';

/** What is expected to go wrong, in one sentence; everything else with its stack, because it needs a programmer. */
export function explainStartFailure(error: unknown, name: string): string {
  if (error instanceof SchemaVersionError) return `${error.message} Here that is \`${migrate(name)}\`.`;
  if (error instanceof EnvironmentError || error instanceof DatabaseUnavailableError || error instanceof OutboxError) {
    return error.message;
  }
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    return 'the port is taken: set PORT to another one, or to 0 for any free port.';
  }
  return inspect(error);
}

function migrate(name: string): string {
  return `npx typeorm migration:run -d apps/${name}/dist/database/data-source.js`;
}
