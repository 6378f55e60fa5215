/** Ends the program with a sentence for people and an exit code for scripts. */
export class CliError extends Error {
  constructor(
    message: string,
    readonly exitCode: 1 | 2,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = new.target.name;
  }
}

/** The work could not be done, or there was none. */
export class Failure extends CliError {
  constructor(message: string, cause?: unknown) {
    super(message, 1, cause);
  }
}

/** The call itself is wrong; nothing was done. */
export class UsageError extends CliError {
  constructor(message: string, cause?: unknown) {
    super(message, 2, cause);
  }
}
