/** Server-Sent Events to one client: form of an event, bounded backlog, pings, and an end when the key is revoked. */
import { z } from '@hono/zod-openapi';
import { stream } from 'hono/streaming';
import type { StreamingApi } from 'hono/utils/stream';
import type { Clock } from '../../lib/clock.ts';
import type { ApiContext } from '../api-env.ts';

/** @param name of the schema in the OpenAPI document. */
export function eventOf<const Name extends string, Data extends z.ZodType>(
  event: Name,
  name: string,
  data: Data,
) {
  return z.object({ event: z.literal(event), data }).openapi(name);
}

/** Proxies cut connections that are silent for a minute. */
const PING_MS = 15_000;

/** Unread bytes at which a slow client is disconnected; it reconnects and begins with a new snapshot. */
const BACKLOG_BYTES_MAX = 1024 * 1024;

/** Reconnection delay that the client is told. */
const RETRY_MS = 2000;

const CHECK_MS = 500;

interface EventStreamOptions {
  readonly clock: Clock;
  /** Checked twice a second; the stream ends when it returns false, such as for a revoked key, or fails. */
  readonly mayGoOn: () => Promise<boolean>;
  /** Called once, however the stream ends. */
  readonly onEnded: () => void;
}

/**
 * The response of an event stream.
 *
 * @param start Sends the first events; must not throw.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export function sendEvents(
  context: ApiContext,
  options: EventStreamOptions,
  start: (events: EventStream) => void,
): Response {
  context.header('Content-Type', 'text/event-stream');
  // Proxies such as nginx would buffer the events otherwise.
  context.header('X-Accel-Buffering', 'no');
  return stream(context, (body) => {
    const events = new EventStream(body, options);
    start(events);
    return events.ended;
  });
}

/** One client of Server-Sent Events; a client that falls behind by more than the backlog is cut off. */
export class EventStream {
  /** Resolves when the stream has ended. */
  readonly ended: Promise<void>;
  readonly #body: StreamingApi;
  readonly #options: EventStreamOptions;
  readonly #resolveEnded: () => void;
  #isOpen = true;
  #unreadBytes = 0;
  #lastSentAtMs: number;
  #cancelCheck: () => void = () => undefined;

  constructor(body: StreamingApi, options: EventStreamOptions) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#resolveEnded = resolve;
    this.#body = body;
    this.#options = options;
    this.#lastSentAtMs = options.clock.nowMs();
    body.onAbort(() => this.end());
    this.#write(`retry: ${RETRY_MS}\n\n`);
    this.#checkLater();
  }

  /** Sends `data` as JSON, which has no line ends. */
  send(event: string, data: unknown): void {
    this.#write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Ends the stream after the events sent so far. Safe to call twice. */
  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#cancelCheck();
    this.#resolveEnded();
    this.#options.onEnded();
  }

  #write(text: string): void {
    if (!this.#isOpen) return;
    this.#lastSentAtMs = this.#options.clock.nowMs();
    const sizeBytes = Buffer.byteLength(text);
    this.#unreadBytes += sizeBytes;
    void this.#body.write(text).then(() => {
      this.#unreadBytes -= sizeBytes;
    });
    if (this.#unreadBytes >= BACKLOG_BYTES_MAX) this.end();
  }

  #checkLater(): void {
    this.#cancelCheck = this.#options.clock.after(CHECK_MS, () => void this.#check());
  }

  async #check(): Promise<void> {
    const { clock, mayGoOn } = this.#options;
    // An error, such as of the database, counts as false: a timer has no caller that could handle it.
    if (!(await mayGoOn().catch(() => false))) this.end();
    if (!this.#isOpen) return;
    // A comment, which clients ignore.
    if (clock.nowMs() - this.#lastSentAtMs >= PING_MS) this.#write(': ping\n\n');
    if (this.#isOpen) this.#checkLater();
  }
}
