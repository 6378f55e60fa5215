interface ChunkLimits<T> {
  readonly items: number;
  readonly bytes: number;
  bytesOf(item: T): number;
}

/** The items in their order, in as few chunks as the limits allow; an item above the limit of bytes is alone. */
export function chunksOf<T>(items: readonly T[], { items: maxItems, bytes: maxBytes, bytesOf }: ChunkLimits<T>): T[][] {
  const chunks: T[][] = [];
  let current: T[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = bytesOf(item);
    if (current.length > 0 && (current.length >= maxItems || bytes + size > maxBytes)) {
      chunks.push(current);
      current = [];
      bytes = 0;
    }
    current.push(item);
    bytes += size;
  }
  return current.length === 0 ? chunks : [...chunks, current];
}
