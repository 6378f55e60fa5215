import { inspect } from 'node:util';
import { OutboxError, SchemaVersionError } from 'nestjs-transactional-outbox';
import { DatabaseUnavailableError } from './database/explain-database-failure.js';
import { EnvironmentError } from './environment.js';

const MIGRATE = 'npx typeorm migration:run -d apps/shipping/dist/database/data-source.js';

/** What is expected to go wrong, in one sentence; everything else with its stack, because it needs a programmer. */
export function explainStartFailure(error: unknown): string {
  if (error instanceof SchemaVersionError) return `${error.message} Here that is \`${MIGRATE}\`.`;
  if (error instanceof EnvironmentError || error instanceof DatabaseUnavailableError || error instanceof OutboxError) {
    return error.message;
  }
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    return 'the port is taken: set PORT to another one, or to 0 for any free port.';
  }
  return inspect(error);
}
