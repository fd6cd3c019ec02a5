/** Reads Server-Sent Events from text as it comes in, in pieces of any size; pure */

export interface SseEvent {
  readonly event: string;
  readonly data: string;
}

/** A line that is longer than this is no event of ours. */
const BUFFER_CHARS_MAX = 4_000_000;

/** Comments, `id` and `retry` are passed over. @see https://html.spec.whatwg.org/multipage/server-sent-events.html */
export class SseParser {
  #rest = '';
  #event = '';
  #data: string[] = [];

  /** @returns events that the piece completed. @throws {RangeError} when a line never ends. */
  push(piece: string): SseEvent[] {
    const text = this.#rest + piece;
    if (text.length > BUFFER_CHARS_MAX) throw new RangeError('An event is too long');
    // A carriage return at the end may be the first half of a line's end.
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#take(line));
  }

  #take(line: string): SseEvent[] {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    const [field, value] =
      colon === -1 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
    if (field === 'event') this.#event = value;
    if (field === 'data') this.#data.push(value);
    return [];
  }

  #dispatch(): SseEvent[] {
    const [event, data] = [this.#event || 'message', this.#data];
    this.#event = '';
    this.#data = [];
    return data.length === 0 ? [] : [{ event, data: data.join('\n') }];
  }
}
