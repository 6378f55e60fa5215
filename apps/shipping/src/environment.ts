import { plainToInstance, Transform } from 'class-transformer';
import { IsIn, IsInt, IsString, Matches, Max, Min, validateSync } from 'class-validator';

/** For development on one machine only; see `readEnvironment`. */
const DEVELOPMENT_SECRET = 'whsec_bm90LWEtc2VjcmV0LWZvci1kZXZlbG9wbWVudA==';

const PORT_RULE = { message: 'PORT must be a whole number from 0 (any free port) to 65535.' };

/** The configuration, one property for each variable of the environment. */
export class Environment {
  @Matches(/^postgres(ql)?:\/\/./, {
    message:
      'DATABASE_URL must name a PostgreSQL database, for example postgres://user:password@127.0.0.1:5432/shipping.',
  })
  DATABASE_URL: string;

  @Transform(({ value }) => Number(value))
  @IsInt(PORT_RULE)
  @Min(0, PORT_RULE)
  @Max(65_535, PORT_RULE)
  PORT: number = 3001;

  /** Events must be signed with it. */
  @IsString({ message: 'WEBHOOK_SECRET must be set in production: it is the one that the sender signs with.' })
  WEBHOOK_SECRET: string;

  /** `skip` where another process, or a person with rights that this one lacks, migrates the database. */
  @IsIn(['run', 'skip'], { message: 'MIGRATIONS must be run or skip.' })
  MIGRATIONS: 'run' | 'skip' = 'run';
}

/** A variable of the environment is missing or wrong. */
export class EnvironmentError extends Error {}

/**
 * Reads and checks the variables once, at start. A variable that is empty counts as not set.
 *
 * @throws EnvironmentError with a sentence for each variable that is wrong.
 */
export function readEnvironment(variables: NodeJS.ProcessEnv): Environment {
  const names = Object.keys(new Environment());
  const given = Object.fromEntries(Object.entries(variables).filter(([name, value]) => names.includes(name) && value));
  const fallback = variables.NODE_ENV === 'production' ? {} : { WEBHOOK_SECRET: DEVELOPMENT_SECRET };
  const environment = plainToInstance(Environment, { ...fallback, ...given }, { exposeDefaultValues: true });
  const problems = validateSync(environment, { stopAtFirstError: true });
  if (problems.length === 0) return environment;
  throw new EnvironmentError(problems.flatMap(({ constraints }) => Object.values(constraints ?? {})).join(' '));
}
