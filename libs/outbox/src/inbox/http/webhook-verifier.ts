import { timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { ConfigurationError, InboxRefusedError } from '../../errors/index.js';
import { wallClockMs } from '../../runtime/index.js';
import { headerOf, type InboundRequest } from './inbound-request.js';

const PREFIX = 'whsec_';
const MIN_KEY_BYTES = 24;
const MAX_KEY_BYTES = 64;

export interface WebhookVerifierOptions {
  readonly secrets: readonly string[];
  readonly requireSignature: boolean;
  readonly signatureToleranceSeconds: number;
}

/** Lets a message pass only if a holder of one of the secrets has signed these very bytes a short time ago. */
export class WebhookVerifier {
  readonly #keys: readonly Webhook[];
  readonly #options: WebhookVerifierOptions;

  /** @throws ConfigurationError, which never contains the secret, unless each is 24 to 64 bytes in base64. */
  constructor(options: WebhookVerifierOptions) {
    this.#keys = options.secrets.map((secret, index) => new Webhook(requireKey(secret, index)));
    this.#options = options;
  }

  /**
   * Verifies as Standard Webhooks 1.0.0, symmetric (`v1`). A signature that is there is verified also where none is
   * required.
   *
   * @throws InboxRefusedError (401)
   */
  verify(request: InboundRequest, body: string): void {
    const id = headerOf(request, 'webhook-id');
    const timestamp = headerOf(request, 'webhook-timestamp');
    const signatures = headerOf(request, 'webhook-signature');
    if (this.#keys.length === 0 || (signatures === undefined && !this.#options.requireSignature)) return;
    if (!id || !timestamp || !signatures) {
      throw unsigned('a signed message has the headers webhook-id, webhook-timestamp and webhook-signature');
    }
    // A dot would let the parts of the signed text be cut elsewhere.
    if (id.includes('.') || !/^\d{1,12}$/.test(timestamp)) {
      throw unsigned('webhook-id must not contain a dot, and webhook-timestamp must be Unix seconds');
    }
    const signedAtMs = Number(timestamp) * 1000;
    if (Math.abs(wallClockMs() - signedAtMs) > this.#options.signatureToleranceSeconds * 1000) {
      throw unsigned('webhook-timestamp is too far from the time of this server');
    }
    const expected = this.#keys.map((key) => Buffer.from(key.sign(id, new Date(signedAtMs), body)));
    const given = signatures.split(' ').map((signature) => Buffer.from(signature));
    if (given.some((one) => expected.some((other) => equals(one, other)))) return;
    throw unsigned('no signature matches the body');
  }
}

function equals(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function unsigned(reason: string): InboxRefusedError {
  return new InboxRefusedError(`the signature was not accepted: ${reason}.`, 401);
}

function requireKey(secret: unknown, index: number): string {
  const base64 = typeof secret !== 'string' ? '' : secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  const key = Buffer.from(base64, 'base64');
  // Buffer skips what is no base64; only a text that comes back unchanged was base64 throughout.
  if (key.toString('base64') !== base64 || key.length < MIN_KEY_BYTES || key.length > MAX_KEY_BYTES) {
    throw new ConfigurationError(
      `InboxModule: secret ${index + 1} is not ${MIN_KEY_BYTES} to ${MAX_KEY_BYTES} bytes in padded base64, with or without the prefix "${PREFIX}". Generate one: openssl rand -base64 32.`,
    );
  }
  return base64;
}
