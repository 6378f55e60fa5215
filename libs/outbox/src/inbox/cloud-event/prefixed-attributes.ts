import { InboxRefusedError } from '../../errors/index.js';

/** The headers that begin with a prefix, by what follows it. */
export function prefixedAttributes(
  headers: Iterable<readonly [name: string, value: string]>,
  prefix: string,
): Record<string, string> {
  const attributes = [...headers].flatMap(([name, value]) =>
    name.startsWith(prefix) ? [[name.slice(prefix.length), value] as const] : [],
  );
  return Object.fromEntries(attributes);
}

/**
 * The value of an attribute as the CloudEvents HTTP and NATS bindings write it into a header: quoted text is unquoted,
 * then percent-encoding is undone once.
 *
 * @throws InboxRefusedError (400) when it is not encoded properly.
 */
export function decodeHeaderValue(name: string, value: string): string {
  const plain = /^".*"$/.test(value) ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value;
  try {
    return decodeURIComponent(plain);
  } catch (error) {
    throw new InboxRefusedError(`the header ${name} is not percent-encoded UTF-8.`, 400, { cause: error });
  }
}
