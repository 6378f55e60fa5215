import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';

/** Of an application that knows HTTP only: it would fail on anything else. */
@Catch()
export class HttpOnlyFilter implements ExceptionFilter {
  readonly seen: string[] = [];

  catch(_: unknown, host: ArgumentsHost): void {
    this.seen.push(host.getType());
    const response = host.switchToHttp().getResponse<{ status(code: number): { send(body: unknown): void } }>();
    response.status(500).send({ filtered: true });
  }
}
