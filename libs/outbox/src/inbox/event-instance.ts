import { plainToInstance } from 'class-transformer';
import { type ValidationError, validate } from 'class-validator';
import { ConfigurationError, InboxRefusedError } from '../errors/index.js';
import type { EventClass, ReceivedEvent } from '../event/index.js';

/**
 * Makes an instance of the payload and checks it with the class-validator rules of its class; a class without rules
 * takes any object.
 *
 * @throws InboxRefusedError (422) with one line for each field that is wrong; it never contains a value.
 */
export async function toEventInstance(eventClass: EventClass, event: ReceivedEvent): Promise<object> {
  const { payload, type } = event;
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) {
    throw new InboxRefusedError(`the payload of "${type}" is no JSON object.`, 422);
  }
  requireConstructible(eventClass);
  const instance = transform(eventClass, payload, type);
  const problems = await validate(instance, {
    forbidUnknownValues: false,
    validationError: { target: false, value: false },
  });
  if (problems.length === 0) return instance;
  throw new InboxRefusedError(`the payload of "${type}" is not valid.`, 422, {
    problems: problems.flatMap((problem) => messagesOf(problem, '')),
  });
}

function transform(eventClass: EventClass, payload: object, type: string): object {
  try {
    return plainToInstance(eventClass, payload);
  } catch (error) {
    throw new InboxRefusedError(`the payload of "${type}" cannot be turned into ${eventClass.name}.`, 422, {
      cause: error,
    });
  }
}

/** The class is at fault then, not the message, which must not be refused for good. */
function requireConstructible(eventClass: EventClass): void {
  try {
    new eventClass();
  } catch (error) {
    throw new ConfigurationError(
      `${eventClass.name} cannot be constructed without arguments, as class-transformer does. Let its constructor cope with undefined.`,
      error,
    );
  }
}

function messagesOf(problem: ValidationError, parent: string): string[] {
  const own = Object.values(problem.constraints ?? {}).map((message) => `${parent}${message}`);
  const nested = (problem.children ?? []).flatMap((child) => messagesOf(child, `${parent}${problem.property}.`));
  return [...own, ...nested];
}
