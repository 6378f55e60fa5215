import { HttpException } from '@nestjs/common';
import { InboxConflictError, InboxRefusedError, InboxUnavailableError, type OutboxError } from '../../errors/index.js';

/**
 * The same refusal as Nest's exception filters understand it, with the reason as JSON:
 * `{ statusCode, code, message, problems? }`. Errors that are not the inbox's own are given back as they are.
 */
export function toHttpException(error: unknown): unknown {
  if (error instanceof InboxRefusedError) {
    return toException(error, error.status, error.problems.length === 0 ? {} : { problems: error.problems });
  }
  if (error instanceof InboxConflictError) return toException(error, 409);
  if (error instanceof InboxUnavailableError) return toException(error, 503);
  return error;
}

function toException(error: OutboxError, statusCode: number, more: object = {}): HttpException {
  return new HttpException({ statusCode, code: error.code, message: error.message, ...more }, statusCode, {
    cause: error,
  });
}
