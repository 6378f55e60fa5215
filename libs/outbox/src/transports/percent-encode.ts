/**
 * A value as the CloudEvents HTTP and NATS bindings write it into a header: space, `"`, `%` and everything outside
 * U+0021 to U+007E as percent-encoded UTF-8.
 */
export function percentEncode(value: string): string {
  return value.replaceAll(/[^!#$&-~]+/gu, (text) => encodeURIComponent(text));
}
