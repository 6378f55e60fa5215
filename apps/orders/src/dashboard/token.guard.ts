import { createHash, timingSafeEqual } from 'node:crypto';
import { type CanActivate, type ExecutionContext, Injectable, UnauthorizedException } from '@nestjs/common';

interface Exchange {
  readonly request: { readonly headers: { readonly authorization?: string } };
  readonly response: { setHeader(name: string, value: string): unknown };
}

/** Asks for any name and the token as the password; the browser shows its own window for it. */
@Injectable()
export class TokenGuard implements CanActivate {
  constructor(private readonly token: string) {}

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const { request, response }: Exchange = { request: http.getRequest(), response: http.getResponse() };
    const { password } = credentialsOf(request);
    if (isSame(password, this.token)) return true;
    response.setHeader('www-authenticate', 'Basic realm="outbox"');
    throw new UnauthorizedException();
  }
}

/** The name that somebody gave together with the token. */
export function operatorOf(request: unknown): string {
  return credentialsOf(request as Exchange['request']).name; // the guard has read the same header
}

function credentialsOf({ headers }: Exchange['request']): { name: string; password: string } {
  const [scheme, encoded = ''] = (headers.authorization ?? '').split(' ');
  const [name = '', ...password] = scheme === 'Basic' ? Buffer.from(encoded, 'base64').toString('utf8').split(':') : [];
  return { name, password: password.join(':') };
}

/** Takes as long for any wrong one; the digests are of one length. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
