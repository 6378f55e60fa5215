import { ConfigurationError } from '../errors/index.js';
import type { HandlerMethod } from './handler-method.js';

/**
 * Refuses event handlers of one pattern of which one takes it from every server and another from one kind only: a message of that
 * kind would be for both, one of another kind for the first alone, and nobody could tell when all of its takers are done.
 *
 * @throws ConfigurationError naming both.
 */
export function refuseHalfSharedPatterns(methods: readonly HandlerMethod[]): void {
  const takers = methods.flatMap(({ where, subscription }) =>
    subscription === undefined || subscription.answersRequests
      ? []
      : subscription.patterns.map((pattern) => ({
          pattern,
          where,
          isEverywhere: subscription.transportId === undefined,
        })),
  );
  for (const { pattern, where, isEverywhere } of takers) {
    const other = takers.find((one) => one.pattern === pattern && one.isEverywhere !== isEverywhere);
    if (other === undefined) continue;
    throw new ConfigurationError(
      `${where} and ${other.where} both take the pattern ${pattern}, and only one of them names its transport: a message could be acknowledged before the other is done with it. Name the transport in both @EventPattern(…), or in neither.`,
    );
  }
}
