/** Reads Server-Sent Events from pieces of text. */

export interface SentEvent {
  /** `message` unless given. */
  readonly event: string;
  readonly data: string;
}

/**
 * Keeps what is not yet a whole event.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
export class SseParser {
  /** Reconnection delay that the server asks for; null until it has. */
  retryMs: number | null = null;
  readonly #charsMax: number;
  #rest = '';
  #event = '';
  #data: string[] = [];
  #chars = 0;

  /** @param charsMax Length of an event at which the stream is given up. */
  constructor(charsMax: number) {
    this.#charsMax = charsMax;
  }

  /**
   * Gives the events that end in the text. A line ends with `\n`, `\r\n` or `\r`; a `\r` at the end waits for what follows.
   *
   * @throws {RangeError} when an event is too long.
   */
  *push(text: string): Generator<SentEvent, void, undefined> {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const event = this.#line(line);
      if (event !== null) yield event;
    }
    if (this.#rest.length + this.#chars > this.#charsMax) {
      throw new RangeError(`An event is over ${this.#charsMax} characters long`);
    }
  }

  #line(line: string): SentEvent | null {
    if (line === '') return this.#end();
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === 'event') this.#event = value;
    if (name === 'retry' && /^\d{1,9}$/.test(value)) this.retryMs = Number(value);
    if (name === 'data') {
      this.#data.push(value);
      this.#chars += value.length;
    }
    return null;
  }

  #end(): SentEvent | null {
    const [event, data] = [this.#event || 'message', this.#data];
    this.#event = '';
    this.#data = [];
    this.#chars = 0;
    return data.length === 0 ? null : { event, data: data.join('\n') };
  }
}
