import { wholeNumber } from '../config/index.js';
import type { Operation, OperationStore } from '../store/index.js';

/** Who changed what by hand, and why. */
export class OperationLogService {
  constructor(private readonly store: OperationStore) {}

  /** Newest first. @param options.limit 1 to 10,000, default 100. */
  async list(options: { readonly limit?: number } = {}): Promise<readonly Operation[]> {
    return this.store.list(wholeNumber('limit', options.limit, 100, 1, 10_000));
  }
}
