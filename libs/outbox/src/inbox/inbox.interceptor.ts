import 'reflect-metadata';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { INTERCEPTORS_METADATA } from '@nestjs/common/constants.js';
import { defer, from, lastValueFrom, mergeMap, type Observable, of, toArray } from 'rxjs';
import { findDelivery } from './delivery.js';
import { rememberMethod } from './handler-identity.js';

/**
 * Runs the handler of a message that the guard let in inside the transaction that records it; the answer leaves after
 * the commit. It has no state and no settings: everything is with the delivery, so applications that share a controller
 * class in one process may share this, too. What the guard did not let in passes by: a method can be guarded in one
 * subclass and not in another.
 */
export class InboxInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const delivery = findDelivery(context);
    if (delivery === undefined) return next.handle();
    let values: readonly unknown[] = [];
    // Both the call and the subscription must happen inside the transaction, or the handler is not in its context.
    const callHandler = async (): Promise<unknown> => {
      values = await lastValueFrom(next.handle().pipe(toArray()));
      return values.at(-1);
    };
    // A request over a broker is answered with every value; the last of them is the one that is kept.
    return defer(() => delivery.apply(context, callHandler)).pipe(
      mergeMap((answer) => (context.getType() === 'rpc' && values.length > 1 ? from(values) : of(answer))),
    );
  }
}

/**
 * Puts the interceptor in front of a method, once. It must be there when Nest registers the routes, which is before
 * `onModuleInit`; nothing ever takes it away.
 */
export function putInboxInterceptor(method: object): void {
  if (hasInboxInterceptor(method)) return;
  rememberMethod(method);
  Reflect.defineMetadata(INTERCEPTORS_METADATA, [new InboxInterceptor(), ...interceptorsOf(method)], method);
}

export function hasInboxInterceptor(method: object): boolean {
  return interceptorsOf(method).some((interceptor) => interceptor instanceof InboxInterceptor);
}

function interceptorsOf(method: object): readonly unknown[] {
  return (Reflect.getMetadata(INTERCEPTORS_METADATA, method) as readonly unknown[] | undefined) ?? [];
}
