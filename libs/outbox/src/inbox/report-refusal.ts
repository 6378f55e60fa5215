import { Logger } from '@nestjs/common';
import { InboxConflictError, InboxRefusedError, InboxUnavailableError } from '../errors/index.js';
import type { ReceivedEvent } from '../event/index.js';
import { logLine } from '../runtime/index.js';
import type { GuardedHandler } from './guarded-handler.js';

/** Logs what the inbox itself decided. An error of the handler is left to the application. */
export function reportRefusal(error: unknown, handler: GuardedHandler, event?: ReceivedEvent): void {
  const logger = new Logger('Inbox');
  const fields = { consumer: handler.consumer, handler: handler.where, id: event?.id, type: event?.type };
  if (error instanceof InboxConflictError) {
    logger.error(logLine('an event id came with different content', fields));
  } else if (error instanceof InboxRefusedError) {
    logger.warn(logLine('message refused', { ...fields, status: error.status, reason: error.message }));
  } else if (error instanceof InboxUnavailableError) {
    logger.warn(logLine('message put off', { ...fields, reason: error.message }));
  }
}
