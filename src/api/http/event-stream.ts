/** A stream of Server-Sent Events to one client: bounded, kept alive, and ended when it must be. */
import type { Clock } from '../../lib/clock.ts';

/** Proxies cut connections on which nothing is said for a minute. */
const PING_MS = 15_000;

/** A client that reads so much too slowly is let go: it asks again and begins with the calls as they are then. */
const BACKLOG_BYTES_MAX = 1024 * 1024;

/** How long the client waits before it asks again after a loss. */
const RETRY_MS = 2000;

const CHECK_MS = 500;

export interface EventStreamOptions {
  readonly clock: Clock;
  /** Asked twice a second; the stream ends when it says no, such as when the key was revoked, and when it throws. */
  readonly mayGoOn: () => boolean;
  /** Called once, however the stream ends. */
  readonly onEnded: () => void;
}

/**
 * The body of a `text/event-stream` answer.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export class EventStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #options: EventStreamOptions;
  readonly #encoder = new TextEncoder();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #lastSentAtMs: number;
  #cancelCheck: () => void = () => undefined;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#lastSentAtMs = options.clock.nowMs();
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        cancel: () => this.#letGo(),
      },
      { highWaterMark: BACKLOG_BYTES_MAX, size: (chunk) => chunk?.byteLength ?? 0 },
    );
    this.#write(`retry: ${RETRY_MS}\n\n`);
    this.#checkLater();
  }

  /** @param data is sent as JSON, which has no line ends. */
  send(event: string, data: unknown): void {
    this.#write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Ends the stream; what was sent arrives. Safe to call twice. */
  end(): void {
    const controller = this.#controller;
    if (controller === undefined) return;
    this.#letGo();
    controller.close();
  }

  #write(text: string): void {
    if (this.#controller === undefined) return;
    this.#lastSentAtMs = this.#options.clock.nowMs();
    this.#controller.enqueue(this.#encoder.encode(text));
    if ((this.#controller.desiredSize ?? 0) <= 0) this.end();
  }

  #checkLater(): void {
    const { clock, mayGoOn } = this.#options;
    this.#cancelCheck = clock.after(CHECK_MS, () => {
      if (!isTrue(mayGoOn)) {
        this.end();
        return;
      }
      // A comment: clients pass over it.
      if (clock.nowMs() - this.#lastSentAtMs >= PING_MS) this.#write(': ping\n\n');
      if (this.#controller !== undefined) this.#checkLater();
    });
  }

  #letGo(): void {
    if (this.#controller === undefined) return;
    this.#controller = undefined;
    this.#cancelCheck();
    this.#options.onEnded();
  }
}

/** Nobody stands behind a timer to catch anything; what cannot be asked, such as a database, may not be assumed. */
function isTrue(ask: () => boolean): boolean {
  try {
    return ask();
  } catch {
    return false;
  }
}
