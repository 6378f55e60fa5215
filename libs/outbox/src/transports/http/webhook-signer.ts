import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { ConfigurationError } from '../../errors/index.js';

const PREFIX = 'whsec_';
const MIN_KEY_BYTES = 24;
const MAX_KEY_BYTES = 64;

/**
 * Signs as Standard Webhooks 1.0.0, symmetric (`v1`), with every secret that it was given. By Node's own HMAC: the one
 * of the package `standardwebhooks` is written in JavaScript and holds the event loop six times as long.
 */
export class WebhookSigner {
  readonly #keys: readonly KeyObject[];

  /** @throws ConfigurationError, which never contains the secret, unless each is 24 to 64 bytes in base64. */
  constructor(secrets: string | readonly string[]) {
    const list = typeof secrets === 'string' ? [secrets] : secrets;
    if (list.length === 0) {
      throw new ConfigurationError('HttpTransport: "secret" is an empty list. Give a secret or leave the option out.');
    }
    this.#keys = list.map((secret, index) => requireKey(secret, index));
  }

  /**
   * The two headers that belong to these very bytes (of a text, its UTF-8) and this attempt.
   *
   * @param atMs Wall clock in milliseconds; the header carries whole seconds.
   */
  sign(id: string, atMs: number, body: string | Buffer): Record<'webhook-timestamp' | 'webhook-signature', string> {
    const timestamp = Math.floor(atMs / 1000).toString();
    const head = `${id}.${timestamp}.`;
    const signatures = this.#keys.map(
      (key) => `v1,${createHmac('sha256', key).update(head).update(body).digest('base64')}`,
    );
    return { 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
  }
}

function requireKey(secret: string, index: number): KeyObject {
  const base64 = typeof secret === 'string' && secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  const key = Buffer.from(base64, 'base64');
  // Buffer skips what is no base64; only a text that comes back unchanged was base64 throughout.
  if (key.toString('base64') !== base64 || key.length < MIN_KEY_BYTES || key.length > MAX_KEY_BYTES) {
    throw new ConfigurationError(
      `HttpTransport: secret ${index + 1} is not ${MIN_KEY_BYTES} to ${MAX_KEY_BYTES} bytes in padded base64, with or without the prefix "${PREFIX}". Generate one: openssl rand -base64 32.`,
    );
  }
  return createSecretKey(key);
}
