import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

/** Own files only, no inline code, no frame around it, nowhere to send anything. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/**
 * Sends answers through the platform's adapter, so that an interceptor of the application which wraps every answer does not
 * take the page apart. Guards, pipes, filters and interceptors run all the same.
 */
@Injectable()
export class Replies {
  constructor(@Inject(HttpAdapterHost) private readonly host: HttpAdapterHost) {}

  json(response: unknown, data: unknown): void {
    this.send(response, 'application/json; charset=utf-8', JSON.stringify(data, textOfBigInt), 'no-store');
  }

  file(response: unknown, contentType: string, text: string): void {
    this.send(response, contentType, text, 'private, no-cache');
  }

  private send(response: unknown, contentType: string, body: string, cacheControl: string): void {
    const { httpAdapter } = this.host;
    for (const [name, value] of Object.entries(HEADERS)) httpAdapter.setHeader(response, name, value);
    httpAdapter.setHeader(response, 'cache-control', cacheControl);
    httpAdapter.setHeader(response, 'content-type', contentType);
    httpAdapter.reply(response, body, 200);
  }
}

function textOfBigInt(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
