/** A registry that is full before its number of calls is reached where the machine has no room for more. */

import { CallRegistry } from '../call-registry.ts';
import type { AdmissionWatch } from './admission-watch.ts';

/** What of the watch a registry goes by. */
export type CallGate = Pick<AdmissionWatch, 'admits' | 'reopened'>;

export class AdmittingRegistry extends CallRegistry {
  readonly #watch: CallGate;
  readonly #onGone: (callId: string) => void;

  /** Lives as long as the watch does. */
  constructor(options: {
    readonly callsMax: number;
    readonly watch: CallGate;
    /** Called when a call is over and on record. */
    readonly onGone?: (callId: string) => void;
  }) {
    super(options);
    this.#watch = options.watch;
    this.#onGone = options.onGone ?? (() => undefined);
    // Whoever waits for a call to go may go on now as well.
    this.#watch.reopened.listen(() => this.freed.notify());
  }

  override delete(callId: string): void {
    const before = this.size;
    super.delete(callId);
    if (this.size < before) this.#onGone(callId);
  }

  override get isFull(): boolean {
    return super.isFull || !this.#watch.admits(this.size);
  }

  override get free(): number {
    if (this.isFull) return 0;
    // One by one while the machine is short of something: only the first call is taken then.
    return this.#watch.admits(this.size + 1) ? super.free : 1;
  }
}
