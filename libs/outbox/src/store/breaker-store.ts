export interface TripRequest {
  readonly destination: string;
  /** The failure of a probe lengthens the pause; that of a batch that was under way when it began does not. */
  readonly isProbe: boolean;
  /** The pause is `jitter` × min(cap, base × 2^failures). */
  readonly baseMs: number;
  readonly capMs: number;
  readonly jitter: number;
  readonly error: string;
}

/**
 * Whether destinations can be reached, known to all dispatchers, so that replicas do not multiply the load on one that
 * is down. Contract: after `trip` no claim but one probe gets deliveries of the destination, until `close`.
 */
export interface BreakerStore {
  /** @returns for how long what failed should wait, in ms: until the pause is over, and not for the lease of a probe. */
  trip(request: TripRequest): Promise<number>;
  /** It was reached. */
  close(destination: string): Promise<void>;
  /** The probe had nothing to try; the next claim may be it. */
  giveProbeBack(destination: string): Promise<void>;
}
