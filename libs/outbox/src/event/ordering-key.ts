import { createHash } from 'node:crypto';

/**
 * 64-bit key of an aggregate, as signed decimal text for PostgreSQL's bigint: the first eight bytes of
 * SHA-256 over `length of type:type:id`. It is computed here, not in SQL, because it is stored and must be the same on
 * every PostgreSQL version. Two aggregates that share a key only wait for each other; nothing is lost or reordered.
 */
export function orderingKey(aggregateType: string, aggregateId: string): string {
  return createHash('sha256')
    .update(`${aggregateType.length}:${aggregateType}:${aggregateId}`)
    .digest()
    .readBigInt64BE(0)
    .toString();
}
