import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { ConfigurationError } from '../errors/index.js';
import { hasInboxInterceptor } from './inbox.interceptor.js';
import { InboxEntrance } from './inbox-entrance.js';

/**
 * Lets a message in only if it is authentic, well formed, and on its way to a handler that will process it once. It
 * cannot hold the handler's transaction itself, because guards return before the handler is called; InboxModule puts an
 * interceptor in front of each guarded handler for that, and the guard refuses a handler that lacks it.
 */
@Injectable()
export class InboxGuard implements CanActivate {
  constructor(private readonly modules: ModuleRef) {}

  /** @throws HttpException 400, 401, 413, 415, 422 or 503 with a reason; ConfigurationError when set up wrongly. */
  canActivate(context: ExecutionContext): boolean {
    for (const entrance of this.entrances()) {
      const handler = entrance.handlerOf(context);
      if (handler === undefined) continue;
      if (!hasInboxInterceptor(context.getHandler())) break;
      entrance.admit(context, handler);
      return true;
    }
    throw new ConfigurationError(
      `${context.getClass().name}.${context.getHandler().name} is guarded by InboxGuard, but no InboxModule prepared it when the application started, so nothing would keep it from running twice. Import InboxModule in a module of the application.`,
    );
  }

  /** All inboxes of this application; two applications in one process never meet. */
  private entrances(): readonly InboxEntrance[] {
    try {
      return this.modules.get<InboxEntrance, InboxEntrance>(InboxEntrance, { strict: false, each: true });
    } catch {
      return []; // Nest throws when no module provides one; canActivate() says what that means.
    }
  }
}
