/** Sound as it happens, to one client: what the client is too slow for is left out, and never kept. */
import type { Clock } from '../../lib/clock.ts';

/** Two seconds of it: a network that stumbles is no reason to lose anything. */
const WAITING_BYTES_MAX = 64 * 1024;

const CHECK_MS = 500;

export interface SoundStreamOptions {
  readonly clock: Clock;
  /** Asked twice a second; the stream ends when it says no, such as when the key was revoked, and when it fails. */
  readonly mayGoOn: () => Promise<boolean>;
  /** Called once, however the stream ends. */
  readonly onEnded: () => void;
}

/** The body of an answer that never ends by itself. */
export class SoundStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #options: SoundStreamOptions;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #checkedAtMs: number;

  constructor(options: SoundStreamOptions) {
    this.#options = options;
    this.#checkedAtMs = options.clock.nowMs();
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        cancel: () => this.#letGo(),
      },
      { highWaterMark: WAITING_BYTES_MAX, size: (chunk) => chunk?.byteLength ?? 0 },
    );
  }

  /** Sends a piece whole, or leaves it out. It must not be changed afterwards. */
  send(bytes: Uint8Array): void {
    this.#check();
    const controller = this.#controller;
    if (controller === undefined) return;
    if ((controller.desiredSize ?? 0) >= bytes.byteLength) controller.enqueue(bytes);
  }

  /** Ends the stream; what was sent arrives. Safe to call twice. */
  end(): void {
    const controller = this.#controller;
    this.#letGo();
    controller?.close();
  }

  #check(): void {
    const { clock, mayGoOn } = this.#options;
    if (clock.nowMs() - this.#checkedAtMs < CHECK_MS) return;
    this.#checkedAtMs = clock.nowMs();
    // An error, such as of the database, counts as a no.
    void mayGoOn()
      .catch(() => false)
      .then((mayGo) => (mayGo ? undefined : this.end()));
  }

  #letGo(): void {
    if (this.#controller === undefined) return;
    this.#controller = undefined;
    this.#options.onEnded();
  }
}
