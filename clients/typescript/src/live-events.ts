/** What happens on calls, as it happens: an event stream that connects again after a cut. */
import type { Opened } from './attempt.ts';
import { piecesOf, requireType } from './body.ts';
import { ConnectionFailedError, InvalidResponseError } from './errors.ts';
import type { LiveEvent } from './generated/types.ts';
import { backOffMs, retryWaitMs } from './retry.ts';
import { sleep } from './sleep.ts';
import { type SentEvent, SseParser } from './sse-parser.ts';

interface StreamOptions {
  readonly open: () => Promise<Opened>;
  readonly signal: AbortSignal | undefined;
  readonly limits: {
    readonly maxRetries: number;
    readonly maxRetryAfterMs: number;
    readonly maxResponseBytes: number;
  };
}

/** What the server asks for, unless it says otherwise. */
const RECONNECT_MS = 2_000;
const RECONNECT_MS_MAX = 60_000;

/**
 * The events, by `for await`; leaving the loop ends the connection. Nothing is sent before. A newer server may send events
 * beyond `LiveEvent`, which come as they are.
 */
export class LiveEventStream implements AsyncIterable<LiveEvent> {
  readonly #options: StreamOptions;

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LiveEvent, void, undefined> {
    const { limits, signal } = this.#options;
    const parser = { retryMs: RECONNECT_MS };
    for (let cuts = 0; ; ) {
      try {
        for await (const event of this.#connection(parser)) {
          cuts = 0;
          yield event;
        }
      } catch (error) {
        const plan = { rule: 'always', attempt: cuts, chance: Math.random() } as const;
        const waitMs = retryWaitMs(error, plan, limits);
        if (waitMs === null) throw error;
        const isCut = error instanceof ConnectionFailedError;
        await sleep(isCut ? reconnectMs(parser.retryMs, cuts) : waitMs, signal);
        cuts += 1;
      }
    }
  }

  /** The events of one connection, which always ends with an error. */
  async *#connection(told: { retryMs: number }): AsyncGenerator<LiveEvent, never, undefined> {
    const { open, limits } = this.#options;
    const { response, attempt } = await open();
    try {
      requireType(response, /^text\/event-stream\b/i);
      const parser = new SseParser(limits.maxResponseBytes);
      const decoder = new TextDecoder();
      for await (const piece of piecesOf(response)) {
        attempt.stop();
        for (const event of parser.push(decoder.decode(piece, { stream: true }))) {
          yield liveEventOf(event, response.status);
        }
        told.retryMs = parser.retryMs ?? told.retryMs;
        attempt.restart();
      }
      throw new ConnectionFailedError('Cannot go on with the events: the server ended the stream');
    } catch (error) {
      if (!(error instanceof RangeError)) throw attempt.failure(error);
      const message = 'Cannot read an event: it is too long';
      throw new InvalidResponseError(message, { status: response.status, cause: error });
    } finally {
      attempt.stop();
    }
  }
}

/** The first time what the server asks for; then at least the back-off. */
function reconnectMs(askedMs: number, cuts: number): number {
  const soonMs = Math.min(askedMs, RECONNECT_MS_MAX);
  return cuts === 0 ? soonMs : Math.max(soonMs, backOffMs(cuts - 1, Math.random()));
}

function liveEventOf({ event, data }: SentEvent, status: number): LiveEvent {
  try {
    return { event, data: JSON.parse(data) } as LiveEvent;
  } catch (error) {
    throw new InvalidResponseError('Cannot read an event: it is no JSON', { status, cause: error });
  }
}
