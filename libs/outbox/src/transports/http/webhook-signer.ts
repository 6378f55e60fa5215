import { Webhook } from 'standardwebhooks';
import { ConfigurationError } from '../../errors/index.js';

const PREFIX = 'whsec_';
const MIN_KEY_BYTES = 24;
const MAX_KEY_BYTES = 64;

/** Signs as Standard Webhooks 1.0.0, symmetric (`v1`), with every secret that it was given. */
export class WebhookSigner {
  readonly #keys: readonly Webhook[];

  /** @throws ConfigurationError, which never contains the secret, unless each is 24 to 64 bytes in base64. */
  constructor(secrets: string | readonly string[]) {
    const list = typeof secrets === 'string' ? [secrets] : secrets;
    if (list.length === 0) {
      throw new ConfigurationError('HttpTransport: "secret" is an empty list. Give a secret or leave the option out.');
    }
    this.#keys = list.map((secret, index) => new Webhook(requireKey(secret, index)));
  }

  /**
   * The two headers that belong to these very bytes (the UTF-8 of `body`) and this attempt.
   *
   * @param atMs Wall clock in milliseconds; the header carries whole seconds.
   */
  sign(id: string, atMs: number, body: string): Record<'webhook-timestamp' | 'webhook-signature', string> {
    const at = new Date(atMs);
    return {
      'webhook-timestamp': Math.floor(atMs / 1000).toString(),
      'webhook-signature': this.#keys.map((key) => key.sign(id, at, body)).join(' '),
    };
  }
}

function requireKey(secret: string, index: number): string {
  const base64 = typeof secret === 'string' && secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  const key = Buffer.from(base64, 'base64');
  // Buffer skips what is no base64; only a text that comes back unchanged was base64 throughout.
  if (key.toString('base64') !== base64 || key.length < MIN_KEY_BYTES || key.length > MAX_KEY_BYTES) {
    throw new ConfigurationError(
      `HttpTransport: secret ${index + 1} is not ${MIN_KEY_BYTES} to ${MAX_KEY_BYTES} bytes in padded base64, with or without the prefix "${PREFIX}". Generate one: openssl rand -base64 32.`,
    );
  }
  return base64;
}
