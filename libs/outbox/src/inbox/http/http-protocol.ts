import { isUtf8 } from 'node:buffer';
import type { ExecutionContext } from '@nestjs/common';
import type { HttpAdapterHost } from '@nestjs/core';
import { InboxRefusedError, InboxUnavailableError } from '../../errors/index.js';
import type { ReceivedEvent } from '../../event/index.js';
import { decodeHeaderValue, prefixedAttributes } from '../cloud-event/prefixed-attributes.js';
import { type ReceivedMessage, readCloudEvent } from '../cloud-event/read-cloud-event.js';
import type { GuardedHandler } from '../guarded-handler.js';
import type { InboundProtocol } from '../inbound-protocol.js';
import type { InboxResult } from '../inbox-message.js';
import type { Refusal } from '../refusal.js';
import {
  headerOf,
  type InboundRequest,
  mediaTypeOfRequest,
  type RawBodyLimits,
  requireRawBody,
} from './inbound-request.js';
import { toHttpException } from './to-http-exception.js';
import type { WebhookVerifier } from './webhook-verifier.js';

/** Header that tells a sender that its event had been processed before. */
const OUTCOME_HEADER = 'inbox-outcome';

/** CloudEvents over HTTP, signed as Standard Webhooks, on Express and on Fastify. */
export class HttpProtocol implements InboundProtocol {
  readonly refusesAtTheDoor = true;

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly verifier: WebhookVerifier,
    private readonly limits: RawBodyLimits,
  ) {}

  /** The signature comes before everything that looks into the body. */
  read(context: ExecutionContext): ReceivedEvent {
    const request = context.switchToHttp().getRequest<InboundRequest>();
    const bytes = requireRawBody(request, this.host.httpAdapter.getType(), this.limits);
    // Bytes that are no UTF-8 would all be verified as the same replacement character.
    if (!isUtf8(bytes)) throw new InboxRefusedError('the body is not encoded in UTF-8.', 400);
    const body = bytes.toString('utf8');
    this.verifier.verify(request, body);
    const event = readCloudEvent(messageOf(request, body));
    requireSameId(request, event.id);
    return event;
  }

  /** 200 for a duplicate, whatever status the handler's method has: for the sender, done is done. */
  settle(context: ExecutionContext, _: GuardedHandler, result: InboxResult<unknown>): unknown {
    if (result.outcome === 'duplicate') {
      const response: unknown = context.switchToHttp().getResponse();
      this.host.httpAdapter.status(response, 200);
      this.host.httpAdapter.setHeader(response, OUTCOME_HEADER, result.outcome);
    }
    return result.result;
  }

  refuse(context: ExecutionContext, { error }: Refusal): never {
    if (error instanceof InboxUnavailableError) {
      const response: unknown = context.switchToHttp().getResponse();
      this.host.httpAdapter.setHeader(response, 'retry-after', String(error.retryAfterSeconds));
    }
    throw toHttpException(error);
  }
}

function messageOf(request: InboundRequest, body: string): ReceivedMessage {
  return {
    mediaType: mediaTypeOfRequest(request),
    body,
    attributesAre: 'ce- headers',
    attributes: () => {
      const headers = Object.keys(request.headers).map((name) => [name, headerOf(request, name) ?? ''] as const);
      const encoded = Object.entries(prefixedAttributes(headers, 'ce-'));
      return Object.fromEntries(encoded.map(([name, value]) => [name, decodeHeaderValue(`ce-${name}`, value)]));
    },
  };
}

/** The signature covers webhook-id, not the ce- headers; what is deduplicated must be what was signed. */
function requireSameId(request: InboundRequest, id: string): void {
  const signedId = headerOf(request, 'webhook-id');
  if (signedId === undefined || signedId === id) return;
  throw new InboxRefusedError('webhook-id is not the id of the CloudEvent.', 400);
}
