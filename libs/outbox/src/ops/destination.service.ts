import { ConfigurationError } from '../errors/index.js';
import type { Signal } from '../runtime/index.js';
import type { DestinationState, DestinationStore, ManualChange } from '../store/index.js';
import { checkChange } from './check-change.js';

/** Shows whether destinations can be reached and how much goes through them; pauses and resumes them for all dispatchers. */
export class DestinationService {
  constructor(
    private readonly store: DestinationStore,
    /** Names from the configuration of this application. */
    private readonly configured: readonly string[],
    /** Told the name of a destination that has work again. */
    private readonly emitted: Signal<string>,
  ) {}

  /** Those that any dispatcher has served, and those that were paused before. */
  list(): Promise<readonly DestinationState[]> {
    return this.store.list();
  }

  /**
   * Dispatchers take nothing more for it, within a second; what they have in hand is finished. Events are stored as ever.
   *
   * @returns false when it was paused already.
   * @throws ConfigurationError for a name that nobody knows, and for a change without a name or a reason.
   */
  async pause(destination: string, change: ManualChange): Promise<boolean> {
    await this.check('pause', destination, change);
    return this.store.pause(destination, change);
  }

  /**
   * Dispatchers go on with it, within a second.
   *
   * @returns false when it was not paused.
   * @throws ConfigurationError for a name that nobody knows, and for a change without a name or a reason.
   */
  async resume(destination: string, change: ManualChange): Promise<boolean> {
    await this.check('resume', destination, change);
    const isResumed = await this.store.resume(destination, change);
    this.emitted.announce(destination);
    return isResumed;
  }

  private async check(action: string, destination: string, change: ManualChange): Promise<void> {
    checkChange(action, change);
    const seen = (await this.store.list()).map((state) => state.destination);
    const known = [...new Set([...this.configured, ...seen])];
    if (known.includes(destination)) return;
    throw new ConfigurationError(
      `${action}() got ${JSON.stringify(destination)}, which is no destination. Known are: ${known.join(', ') || 'none yet'}.`,
    );
  }
}
