import { type ValidationError, validate } from 'class-validator';
import { InvalidEventError } from '../errors/index.js';

/**
 * Runs the class-validator rules of the event's class; a class without rules passes.
 *
 * @throws InvalidEventError with every message.
 */
export async function validateEvent(event: object, type: string): Promise<void> {
  const problems = await validate(event, { forbidUnknownValues: false, validationError: { target: false } });
  if (problems.length === 0) return;
  throw new InvalidEventError(
    `event ${type} is not valid: ${problems.flatMap((problem) => messagesOf(problem, '')).join('; ')}. Nothing was stored.`,
  );
}

function messagesOf(problem: ValidationError, parent: string): string[] {
  const own = Object.values(problem.constraints ?? {}).map((message) => `${parent}${message}`);
  const nested = (problem.children ?? []).flatMap((child) => messagesOf(child, `${parent}${problem.property}.`));
  return [...own, ...nested];
}
