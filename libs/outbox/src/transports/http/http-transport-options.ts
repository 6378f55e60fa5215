import type { LookupFunction } from 'node:net';
import { ConfigurationError } from '../../errors/index.js';
import type { PublishOutcome } from '../publish-outcome.js';
import { requireWhole } from '../require-whole.js';
import { requireSource } from '../source.js';
import type { OutgoingEvent } from '../transport.js';
import { AddressPolicy } from './address-policy.js';
import { guardedLookup, systemLookup } from './guarded-lookup.js';
import type { HttpResponseHead } from './response-outcome.js';
import { requireStaticHeaders } from './static-headers.js';
import { parseTarget, TargetRefusedError } from './target.js';
import { WebhookSigner } from './webhook-signer.js';

export interface HttpTransportOptions {
  /** Where to POST: http or https, without credentials (use `headers`). A function is asked once per attempt. */
  readonly url: string | ((event: OutgoingEvent) => string);
  /** CloudEvents `source`: a URI reference of the producing application; default `/nestjs-transactional-outbox`. */
  readonly source?: string;
  /**
   * Standard Webhooks secret: `whsec_` and 24 to 64 bytes as base64. Several, newest first, sign each request with all
   * of them, so that receivers can change over. Without one, requests are not signed.
   */
  readonly secret?: string | readonly string[];
  /** Sent with every request, for example `authorization`. Values are treated as secrets. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds for one whole exchange: DNS, connect, TLS, request, response head and body. Default 10,000. */
  readonly timeoutMs?: number;
  /** Bytes of a response body that are read and thrown away before the connection is destroyed. Default 65,536. */
  readonly maxResponseBytes?: number;
  /** Longest wait in milliseconds that a `Retry-After` is granted; default 3,600,000 (one hour). */
  readonly maxRetryAfterMs?: number;
  /**
   * Only where `url` is a function: about how many milliseconds an event waits when its host cannot be reached (half
   * of it up to all of it, by chance). Default 30,000. A fixed `url` pauses the destination instead.
   */
  readonly unreachableDelayMs?: number;
  /** Connections per origin; default 32. Keep it at or above `concurrency` × `batchesInFlight` of the destination. */
  readonly connections?: number;
  /** Own verdict on a response; undefined leaves it to the default. `delivered` needs a complete response anyway. */
  readonly classify?: (response: HttpResponseHead) => PublishOutcome | undefined;
  /**
   * Refuse every address that is not public unicast. Default: on where `url` is a function, off where it is fixed.
   * `allow` lists host names, addresses and CIDR ranges that may be internal.
   */
  readonly ssrfGuard?: boolean | { readonly allow: readonly string[] };
  /** Resolver with the signature of `dns.lookup`, for custom DNS. The guard checks what it answers. */
  readonly lookup?: LookupFunction;
}

export interface ResolvedHttpOptions {
  readonly url: URL | ((event: OutgoingEvent) => string);
  readonly source: string;
  readonly signer: WebhookSigner | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly maxRetryAfterMs: number;
  /** Undefined: an unreachable host means that the destination is unreachable. */
  readonly unreachableDelayMs: number | undefined;
  readonly connections: number;
  readonly classify: (response: HttpResponseHead) => PublishOutcome | undefined;
  /** Undefined: the guard is off. */
  readonly addressPolicy: AddressPolicy | undefined;
  readonly lookup: LookupFunction | undefined;
}

/** Node's timers fire at once above this. */
const MAX_TIMER_MS = 2_147_483_647;

export function resolveHttpOptions(options: HttpTransportOptions): ResolvedHttpOptions {
  const addressPolicy = resolvePolicy(options);
  const isFixed = typeof options.url !== 'function';
  return {
    url: typeof options.url === 'function' ? options.url : fixedTarget(options.url, addressPolicy),
    source: requireSource('HttpTransport', options.source),
    signer: resolveSigner(options),
    headers: requireStaticHeaders(options.headers ?? {}),
    timeoutMs: wholeOption('timeoutMs', options.timeoutMs ?? 10_000, 1),
    maxResponseBytes: wholeOption('maxResponseBytes', options.maxResponseBytes ?? 65_536, 0),
    maxRetryAfterMs: wholeOption('maxRetryAfterMs', options.maxRetryAfterMs ?? 3_600_000, 1),
    unreachableDelayMs: isFixed
      ? undefined
      : wholeOption('unreachableDelayMs', options.unreachableDelayMs ?? 30_000, 1000),
    connections: wholeOption('connections', options.connections ?? 32, 1),
    classify: options.classify ?? (() => undefined),
    addressPolicy,
    lookup: addressPolicy === undefined ? options.lookup : guardedLookup(options.lookup ?? systemLookup, addressPolicy),
  };
}

/** `secret: process.env.NAME` with the variable unset must not turn into unsigned requests. */
function resolveSigner(options: HttpTransportOptions): WebhookSigner | undefined {
  if (options.secret !== undefined) return new WebhookSigner(options.secret);
  if (!('secret' in options)) return undefined;
  throw new ConfigurationError(
    'HttpTransport: "secret" is undefined. Leave the option out to send without a signature.',
  );
}

function resolvePolicy({ url, ssrfGuard }: HttpTransportOptions): AddressPolicy | undefined {
  const guard = ssrfGuard ?? typeof url === 'function';
  if (guard === false) return undefined;
  return new AddressPolicy(guard === true ? [] : guard.allow);
}

function fixedTarget(url: string, addressPolicy: AddressPolicy | undefined): URL {
  try {
    return parseTarget(url, addressPolicy);
  } catch (error) {
    if (!(error instanceof TargetRefusedError)) throw error;
    throw new ConfigurationError(`HttpTransport: ${error.message}`);
  }
}

function wholeOption(name: string, value: number, min: number): number {
  return requireWhole('HttpTransport', name, value, { min, max: MAX_TIMER_MS });
}
