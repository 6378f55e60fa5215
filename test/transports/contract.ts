import { it } from 'vitest';
import {
  type HeldEvent,
  type TransportUnderTest,
  transportContract,
} from '../../libs/outbox/src/testing/transport-contract/index.js';

/** The parts of a TransportUnderTest that exist before the destination does. */
export type DeclaredTransport = Omit<TransportUnderTest, 'take'>;

/**
 * Declares the cases of the contract; the destination may come later, in `beforeAll`.
 *
 * @param take as in TransportUnderTest.
 */
export function itKeepsTheContract(
  declared: DeclaredTransport,
  take: (count: number) => Promise<readonly HeldEvent[]>,
): void {
  for (const { title, run } of transportContract({ ...declared, take })) it(title, run);
}
