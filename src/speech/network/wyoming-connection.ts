/** A connection to a Wyoming server: one request and its answer, in events over TCP. */
import { connect, type Socket } from 'node:net';
import { connectionFault, shortFault } from './speech-http.ts';
import { type WyomingEvent, WyomingReader, wyomingBytes } from './wyoming-events.ts';

/** Bytes of an answer in all: 10 minutes of audio at 48 kHz. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Servers close the connection after an answer or keep it, so that each request opens its own.
 *
 * @see README.md of OHF-Voice/wyoming, "Event Flow"
 */
export class WyomingConnection {
  readonly #socket: Socket;
  readonly #signal: AbortSignal;

  /** @param address `tcp://host:port`. @param signal closes the connection at once. */
  constructor(address: string, signal: AbortSignal) {
    const { hostname, port } = new URL(address);
    const host = hostname.replace(/^\[|\]$/g, '');
    this.#signal = signal;
    this.#socket = connect({ host, port: Number(port), signal, noDelay: true });
    // `events` throws it; without a listener an error in between would end the process.
    this.#socket.on('error', () => undefined);
  }

  /** Sends an event, once the connection is there. */
  send(
    type: string,
    data?: Readonly<Record<string, unknown>>,
    payload?: Uint8Array,
  ): WyomingConnection {
    this.#socket.write(wyomingBytes(type, data, payload));
    return this;
  }

  /**
   * The server's events, as they arrive, until it closes the connection. Leaving the loop closes it too.
   *
   * @throws {Error} naming the fault, also one that the server reports.
   * @throws the signal's reason when aborted.
   */
  async *events(): AsyncGenerator<WyomingEvent> {
    const reader = new WyomingReader();
    let length = 0;
    for await (const bytes of this.#received()) {
      length += bytes.length;
      if (length > ANSWER_BYTES_MAX) throw new Error('its answer is too long');
      for (const event of reader.push(bytes)) {
        if (event.type === 'error') throw new Error(errorIn(event));
        yield event;
      }
    }
    this.#signal.throwIfAborted();
  }

  /** Safe to call twice. */
  close(): void {
    this.#socket.destroy();
  }

  async *#received(): AsyncGenerator<Uint8Array> {
    try {
      yield* this.#socket;
    } catch (error) {
      this.#signal.throwIfAborted();
      throw new Error(connectionFault(error), { cause: error });
    }
  }
}

function errorIn({ data: { text, code } }: WyomingEvent): string {
  const told = [text, code].find((part) => typeof part === 'string' && part !== '');
  return told === undefined
    ? 'it answered with an error'
    : `it answered: ${shortFault(String(told))}`;
}
