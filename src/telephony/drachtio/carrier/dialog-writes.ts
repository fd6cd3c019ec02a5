/** Writes of the open-dialog journal: one after the other, and once more while the database refuses them. */
import type { DialogStore, OpenDialog } from '../../../domain/call/open-dialog.ts';
import { StoreError } from '../../../domain/service-error.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';

/** Time between two tries, in milliseconds. */
const RETRY_MS = 1000;

interface DialogWritesOptions {
  readonly store: Pick<DialogStore, 'save' | 'remove'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Keeps the newest state of each dialog that could not be written; a call never waits for a second try. */
export class DialogWrites {
  readonly #options: DialogWritesOptions;
  /** States to be written, by dialog; null: the dialog is over. */
  readonly #refused = new Map<string, OpenDialog | null>();
  /** Ends with the newest write; one write follows the other. */
  #written: Promise<void> = Promise.resolve();
  #writesPending = 0;

  constructor(options: DialogWritesOptions) {
    this.#options = options;
  }

  /** Resolves when the dialog is on disk, or could not be saved yet. Never rejects: a call goes on when the disk fails. */
  save(open: OpenDialog): Promise<void> {
    return this.#inTurn(() => this.#write(open.id, open));
  }

  /** Forgets a dialog; as `save`. */
  remove(id: string): Promise<void> {
    return this.#inTurn(() => this.#write(id, null));
  }

  /** Begins at once where no other write is pending. */
  #inTurn(write: () => Promise<void>): Promise<void> {
    const writing = this.#writesPending === 0 ? write() : this.#written.then(write);
    this.#writesPending += 1;
    this.#written = writing.finally(() => {
      this.#writesPending -= 1;
    });
    return this.#written;
  }

  async #write(id: string, open: OpenDialog | null): Promise<void> {
    const { store, log } = this.#options;
    const failure = open === null ? 'could not remove a dialog' : 'could not save an open dialog';
    try {
      await (open === null ? store.remove(id) : store.save(open));
      this.#refused.delete(id);
    } catch (error) {
      if (error instanceof StoreError) {
        this.#retryLater(id, open, error);
      } else {
        this.#refused.delete(id);
        log.error({ err: error }, failure);
      }
    }
  }

  #retryLater(id: string, open: OpenDialog | null, error: StoreError): void {
    const { clock, log } = this.#options;
    const isFirst = this.#refused.size === 0;
    this.#refused.set(id, open);
    if (!isFirst) return;
    log.warn({ err: error }, 'open dialogs cannot be written, will retry');
    clock.after(RETRY_MS, () => this.#retry());
  }

  /** Writes what waits, up to the first refusal. */
  #retry(): void {
    void this.#inTurn(async () => {
      const waiting = [...this.#refused];
      this.#refused.clear();
      for (const [index, [id, open]] of waiting.entries()) {
        await this.#write(id, open);
        if (!this.#refused.has(id)) continue;
        for (const [other, state] of waiting.slice(index + 1)) this.#refused.set(other, state);
        return;
      }
    });
  }
}
