import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  type NestInterceptor,
  Post,
  UseInterceptors,
} from '@nestjs/common';
import { Inbox, InboxEnvelope, type ReceivedEvent, receivedEventOf } from 'nestjs-transactional-outbox';
import type { Observable } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type InboxApp, orderPlaced, startInboxApp } from './inbox-app.js';

describe('an interceptor of a class', () => {
  const seen: (ReceivedEvent | undefined)[] = [];
  let handled: ReceivedEvent | undefined;
  let inbox: InboxApp;

  class See implements NestInterceptor {
    intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
      seen.push(receivedEventOf(context));
      return next.handle();
    }
  }

  @Controller()
  @UseInterceptors(See)
  class Orders {
    @Post('events')
    @Inbox('shipping')
    onEvent(@InboxEnvelope() event: ReceivedEvent): void {
      handled = event;
    }

    @Post('unguarded')
    unguarded(): void {
      // not a handler of the inbox
    }
  }

  beforeAll(async () => {
    inbox = await startInboxApp({ controllers: [Orders] });
  });
  afterAll(() => inbox.close());

  it('sees the event that the guard has let in, each time it comes, and none where there is no guard', async () => {
    const message = orderPlaced();
    for (const path of ['/events', '/events', '/unguarded']) {
      expect((await inbox.deliver(message, { path })).status).toBeLessThan(300);
    }
    expect(seen).toEqual([handled, handled, undefined]);
    expect(handled).toMatchObject({ id: message.id, type: message.type });
  });

  it('is not called for what the guard refuses', async () => {
    seen.length = 0;
    expect((await inbox.deliver(orderPlaced(), { path: '/events', secret: null })).status).toBe(401);
    expect(seen).toEqual([]);
  });
});
