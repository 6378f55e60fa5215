import { type CanActivate, type ExecutionContext, ForbiddenException, Inject, Injectable } from '@nestjs/common';
import type { ResolvedDashboardOptions } from '../dashboard-options.js';
import { OPTIONS } from '../dashboard-services.js';

/** The part of a request that both platforms have. */
interface Incoming {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * Lets the page's own requests through only: a browser takes the cookies or the password of whoever is on call to any request
 * that another site makes. No form can set the header or the content type, and a script of another origin that sets them is
 * told apart by what the browser says of it, even where the application answers its preflight.
 */
@Injectable()
export class SameOriginGuard implements CanActivate {
  constructor(@Inject(OPTIONS) private readonly options: ResolvedDashboardOptions) {}

  canActivate(context: ExecutionContext): boolean {
    const { method, headers } = context.switchToHttp().getRequest<Incoming>();
    const isRead = method === 'GET' || method === 'HEAD';
    if (!isRead) refuseWithoutMark(headers);
    const site = headers['sec-fetch-site'];
    if (site !== undefined) {
      if (site === 'same-origin' || (isRead && site === 'none')) return true;
      throw new ForbiddenException('This comes from another site. Use the page itself.');
    }
    if (this.isOwn(headers)) return true;
    throw new ForbiddenException(
      'Origin and Host differ. Use the page itself; behind a proxy that replaces Host, name its origin in "allowedOrigins".',
    );
  }

  /** For browsers and connections without Sec-Fetch-Site; a program sends no Origin. */
  private isOwn({ origin, host }: Incoming['headers']): boolean {
    if (origin === undefined) return true;
    if (typeof origin !== 'string' || !URL.canParse(origin)) return false;
    return this.options.allowedOrigins.includes(origin) || new URL(origin).host === host;
  }
}

function refuseWithoutMark(headers: Incoming['headers']): void {
  if (headers['x-outbox-dashboard'] !== '1') {
    throw new ForbiddenException('A change needs the header "x-outbox-dashboard: 1".');
  }
  const contentType = String(headers['content-type'] ?? '');
  if (!/^application\/json\s*(;|$)/i.test(contentType)) {
    throw new ForbiddenException('A change needs the content type application/json.');
  }
}
