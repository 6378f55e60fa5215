import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';

/** For development on one machine only; see `readEnvironment`. */
const DEVELOPMENT_SECRET = 'whsec_bm90LWEtc2VjcmV0LWZvci1kZXZlbG9wbWVudA==';

/** A variable of the environment is missing or wrong. */
export class EnvironmentError extends Error {}

/**
 * Reads and checks the variables that a class declares, one property for each. A variable that is empty counts as not
 * set. Where WEBHOOK_SECRET is not set, sender and receiver agree on a known one, except in production.
 *
 * @throws EnvironmentError with a sentence for each variable that is wrong.
 */
export function readEnvironment<Environment extends object>(
  declaration: new () => Environment,
  variables: NodeJS.ProcessEnv,
): Environment {
  const names = Object.keys(new declaration());
  const given = Object.fromEntries(Object.entries(variables).filter(([name, value]) => names.includes(name) && value));
  const fallback = variables.NODE_ENV === 'production' ? {} : { WEBHOOK_SECRET: DEVELOPMENT_SECRET };
  const environment = plainToInstance(declaration, { ...fallback, ...given }, { exposeDefaultValues: true });
  const problems = validateSync(environment, { stopAtFirstError: true });
  if (problems.length === 0) return environment;
  throw new EnvironmentError(problems.flatMap(({ constraints }) => Object.values(constraints ?? {})).join(' '));
}
