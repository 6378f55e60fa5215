import { InboxRefusedError, InboxUnavailableError } from '../../errors/index.js';
import { isJson, mediaTypeOf } from '../cloud-event/media-type.js';

/** What Express and Fastify requests have in common, as far as it matters here. */
export interface InboundRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The very bytes of the body; Nest keeps them when it is created with `rawBody: true`. */
  readonly rawBody?: unknown;
}

/** Text of a header; undefined when it is absent. The names are lower case. */
export function headerOf(request: InboundRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : value?.join(', ');
}

/** Media type without parameters, in lower case. */
export function mediaTypeOfRequest(request: InboundRequest): string {
  return mediaTypeOf(headerOf(request, 'content-type'));
}

export interface RawBodyLimits {
  readonly maxBodyBytes: number;
  readonly retryAfterSeconds: number;
}

/**
 * The bytes that a signature covers. The parsed body is never written back into bytes: they could be others.
 *
 * @throws InboxRefusedError 415, 413 or 400; InboxUnavailableError when the application was not set up to keep the
 *   bytes, because then the message may be fine and must not be lost.
 */
export function requireRawBody(request: InboundRequest, platform: string, limits: RawBodyLimits): Buffer {
  const { rawBody } = request;
  const mediaType = mediaTypeOfRequest(request);
  if (!isJson(mediaType)) {
    throw new InboxRefusedError(
      `content-type is ${JSON.stringify(mediaType)}; events come as application/cloudevents+json, or as application/json with ce- headers.`,
      415,
    );
  }
  if (!Buffer.isBuffer(rawBody)) {
    throw new InboxUnavailableError(howToKeepRawBody(platform, mediaType), limits.retryAfterSeconds);
  }
  if (rawBody.length > limits.maxBodyBytes) {
    throw new InboxRefusedError(`the body has ${rawBody.length} bytes, the limit is ${limits.maxBodyBytes}.`, 413);
  }
  return rawBody;
}

function howToKeepRawBody(platform: string, mediaType: string): string {
  return `this application does not keep the raw body of ${mediaType} requests, without which no message can be trusted. Create it with { rawBody: true }${parserFor(platform, mediaType)}; see "The raw body" in the guide "Consuming".`;
}

function parserFor(platform: string, mediaType: string): string {
  if (platform !== 'fastify') {
    return ` and call app.useBodyParser('json', { type: ['application/json', 'application/*+json'] }) before it listens`;
  }
  // Nest has a parser of its own for this one, which must not be replaced by one that leaves the body unparsed.
  return mediaType === 'application/json' ? '' : ` and call app.useBodyParser('${mediaType}') before it listens`;
}
