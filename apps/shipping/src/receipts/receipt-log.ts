import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { InjectRepository } from '@nestjs/typeorm';
import { receivedEventOf } from 'nestjs-transactional-outbox';
import { defer, type Observable, switchMap } from 'rxjs';
import { Repository } from 'typeorm';
import { Receipt } from './receipt.entity.js';

/** Names the consumer whose receipts are written down. */
export const ReceivedBy = Reflector.createDecorator<string>();

/**
 * Writes down every authentic delivery before it is processed, in a transaction of its own, so that receipts count what
 * arrived, duplicates and failures included. Interceptors of a class run before those of its methods, and the
 * transaction of the inbox begins in the latter.
 */
@Injectable()
export class ReceiptLog implements NestInterceptor {
  constructor(
    @InjectRepository(Receipt) private readonly receipts: Repository<Receipt>,
    private readonly reflector: Reflector,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return defer(() => this.write(context)).pipe(switchMap(() => next.handle()));
  }

  private async write(context: ExecutionContext): Promise<void> {
    const event = receivedEventOf(context);
    if (event === undefined) return; // no event for this consumer
    await this.receipts.insert({
      consumer: this.reflector.get(ReceivedBy, context.getClass()),
      eventId: event.id,
      type: event.type,
      aggregateId: event.aggregateId,
      sequence: event.sequence?.toString(),
    });
  }
}
