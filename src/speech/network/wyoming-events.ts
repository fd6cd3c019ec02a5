/** Events of the Wyoming protocol: writes them, and reads them as their bytes arrive; pure */
import { isObject } from '../../lib/unknown-value.ts';

/**
 * One event.
 *
 *     {"type": "audio-chunk", "data": {...}, "data_length": n, "payload_length": m}\n
 *     n bytes: a JSON object, merged over the header's data
 *     m bytes: PCM
 *
 * @see README.md of OHF-Voice/wyoming, "Format"
 */
export interface WyomingEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly payload: Uint8Array;
}

/** A list of a thousand voices with their speakers takes some 200 kB. */
const JSON_BYTES_MAX = 1024 * 1024;

/** Some servers send the audio of a whole sentence in one event: 40 s at 48 kHz. */
const PAYLOAD_BYTES_MAX = 4 * 1024 * 1024;

const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);

/** Writes an event in the form that every version of the protocol reads. */
export function wyomingBytes(
  type: string,
  data: Readonly<Record<string, unknown>> = {},
  payload: Uint8Array = NOTHING,
): Buffer {
  const more = Object.keys(data).length === 0 ? NOTHING : Buffer.from(JSON.stringify(data));
  const header = {
    type,
    ...(more.length > 0 && { data_length: more.length }),
    ...(payload.length > 0 && { payload_length: payload.length }),
  };
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), more, payload]);
}

interface Header {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly dataBytes: number;
  readonly payloadBytes: number;
}

/** Takes the bytes of a connection, however they are cut. Keeps state: use one instance a connection. */
export class WyomingReader {
  /** Start of a header line that is not whole yet. */
  #line: Buffer = NOTHING;
  #header: Header | null = null;
  /** Data and payload after the header, as far as they are there. */
  #body: Buffer = NOTHING;
  #bodyBytes = 0;

  /** @returns the events that are whole now. @throws {Error} when the bytes are no events, or exceed a limit. */
  push(bytes: Uint8Array): readonly WyomingEvent[] {
    const events: WyomingEvent[] = [];
    let rest = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    while (rest.length > 0) {
      rest = this.#header === null ? this.#takeLine(rest) : this.#takeBody(rest);
      if (this.#header === null || this.#bodyBytes < this.#body.length) continue;
      events.push(eventOf(this.#header, this.#body));
      this.#header = null;
    }
    return events;
  }

  #takeLine(bytes: Buffer): Buffer {
    const end = bytes.indexOf(NEWLINE);
    const part = end < 0 ? bytes : bytes.subarray(0, end);
    if (this.#line.length + part.length > JSON_BYTES_MAX)
      throw new Error('it sent an endless line');
    this.#line = Buffer.concat([this.#line, part]);
    if (end < 0) return NOTHING;
    this.#header = headerOf(this.#line);
    this.#line = NOTHING;
    this.#body = Buffer.alloc(this.#header.dataBytes + this.#header.payloadBytes);
    this.#bodyBytes = 0;
    return bytes.subarray(end + 1);
  }

  #takeBody(bytes: Buffer): Buffer {
    const taken = bytes.copy(this.#body, this.#bodyBytes);
    this.#bodyBytes += taken;
    return bytes.subarray(taken);
  }
}

function headerOf(line: Buffer): Header {
  const { type, data, data_length: dataLength, payload_length: payloadLength } = objectIn(line);
  if (typeof type !== 'string') throw new Error('it sent an event without a type');
  return {
    type,
    data: isObject(data) ? data : {},
    dataBytes: lengthOf(dataLength, JSON_BYTES_MAX),
    payloadBytes: lengthOf(payloadLength, PAYLOAD_BYTES_MAX),
  };
}

function eventOf({ type, data, dataBytes }: Header, body: Buffer): WyomingEvent {
  const more = dataBytes === 0 ? {} : objectIn(body.subarray(0, dataBytes));
  return { type, data: { ...data, ...more }, payload: body.subarray(dataBytes) };
}

function objectIn(bytes: Buffer): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new Error('it does not speak the Wyoming protocol', { cause: error });
  }
  if (isObject(value)) return value;
  throw new Error('it does not speak the Wyoming protocol');
}

/** Absent and null mean none. */
function lengthOf(value: unknown, max: number): number {
  if (value === undefined || value === null) return 0;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max) {
    return value;
  }
  throw new Error('it sent an event of an impossible length');
}
