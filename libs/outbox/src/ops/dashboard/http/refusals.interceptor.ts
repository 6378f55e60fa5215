import { BadRequestException, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { catchError, type Observable, throwError } from 'rxjs';
import { ConfigurationError } from '../../../errors/index.js';

/** What a service refuses to do is the request's fault here, and its reason is for whoever sits before the page. */
export class RefusalsInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next
      .handle()
      .pipe(
        catchError((error: unknown) =>
          throwError(() =>
            error instanceof ConfigurationError ? new BadRequestException(error.message, { cause: error }) : error,
          ),
        ),
      );
  }
}
