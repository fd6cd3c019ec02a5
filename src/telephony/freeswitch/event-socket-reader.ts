/** Takes FreeSWITCH's event socket protocol apart: header lines, an empty line, and a body where one is announced; pure */

/** One message. Header names are in lower case. */
export interface EventSocketMessage {
  readonly headers: ReadonlyMap<string, string>;
  /** Empty where there is none. */
  readonly body: string;
}

/** The bytes are not what FreeSWITCH would send. */
export class EventSocketError extends Error {
  override readonly name = 'EventSocketError';
}

const HEAD_BYTES_MAX = 64 * 1024;
const BODY_BYTES_MAX = 4 * 1024 * 1024;

/** @see https://developer.signalwire.com/freeswitch, mod_event_socket */
export class EventSocketReader {
  #unread = Buffer.alloc(0);

  /**
   * Takes in what came.
   *
   * @returns the messages that are whole now.
   * @throws {EventSocketError} when it makes no sense; then the connection is of no use.
   */
  push(chunk: Buffer): EventSocketMessage[] {
    this.#unread = Buffer.concat([this.#unread, chunk]);
    const messages: EventSocketMessage[] = [];
    for (let next = this.#next(); next !== undefined; next = this.#next()) messages.push(next);
    return messages;
  }

  #next(): EventSocketMessage | undefined {
    const headEnd = this.#unread.indexOf('\n\n');
    if (headEnd > HEAD_BYTES_MAX || (headEnd < 0 && this.#unread.length > HEAD_BYTES_MAX)) {
      throw new EventSocketError('Cannot read FreeSWITCH: its header does not end');
    }
    if (headEnd < 0) return undefined;
    const headers = headersOf(this.#unread.toString('utf8', 0, headEnd));
    const length = Number(headers.get('content-length') ?? 0);
    if (!Number.isInteger(length) || length < 0 || length > BODY_BYTES_MAX) {
      throw new EventSocketError('Cannot read FreeSWITCH: its Content-Length is out of range');
    }
    const bodyStart = headEnd + 2;
    if (this.#unread.length < bodyStart + length) return undefined;
    const body = this.#unread.toString('utf8', bodyStart, bodyStart + length);
    this.#unread = this.#unread.subarray(bodyStart + length);
    return { headers, body };
  }
}

function headersOf(head: string): ReadonlyMap<string, string> {
  const lines = head.split('\n').filter((line) => line !== '');
  return new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      if (colon < 1) throw new EventSocketError('Cannot read FreeSWITCH: a header has no name');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}
